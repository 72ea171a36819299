// SPDX-License-Identifier: Apache-2.0
/* Publishing the newest checkpoints of all stores, when a server ends. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#include "checkpoint/recent.h"
#include "checkpoint/recent_file.h"
#include "checkpoint/store.h"
#include "util/fs.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

/* Open what publishing needs of a store.  False when it cannot be used now: a clean-up is at work,
 * or the next user has to look what another boot left. */
static bool open_store(int state_fd, const char *name, struct al_store *store)
{
    store->dir_fd = openat(state_fd, name, DIR_FLAGS);
    if (store->dir_fd < 0)
        return false;
    store->recent.fd = openat(store->dir_fd, AL_RECENT_NAME, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    store->lock_fd = openat(store->dir_fd, "lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    store->bare.dir_fd = openat(store->dir_fd, "checkpoints.git", DIR_FLAGS);
    if (store->recent.fd < 0 || store->lock_fd < 0 || store->bare.dir_fd < 0 ||
        flock(store->lock_fd, LOCK_SH | LOCK_NB) < 0)
        return false;
    store->pack_fd = openat(store->bare.dir_fd, "objects/pack", DIR_FLAGS);
    store->sha256 = false;
    if (al_recent_is_of_this_boot(store))
        return store->pack_fd >= 0;
    store->sha256 = true;
    return store->pack_fd >= 0 && al_recent_is_of_this_boot(store);
}

static void publish(int state_fd, const char *name)
{
    struct al_store *store = al_calloc(1, sizeof(*store));

    store->size_mtim.tv_nsec = -1;
    store->dir_fd = store->lock_fd = store->pack_fd = store->recent.fd = store->bare.dir_fd = -1;
    if (open_store(state_fd, name, store))
        (void)al_recent_publish(store, NULL);
    al_store_close(store);
}

void al_store_publish_all(const char *state_dir)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list(open(state_dir, DIR_FLAGS));
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (strlen(entry->d_name) == AL_STORE_ID_DIGITS &&
            strspn(entry->d_name, "0123456789abcdef") == AL_STORE_ID_DIGITS)
            publish(dirfd(dir), entry->d_name);
}
