// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/quarantine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"

#define PREFIX "tmp_objdir-" /* git's, so that `git gc` removes an old one as well */

static int failed(int errno_value, struct al_error *err)
{
    return al_error_errno(err, errno_value, "cannot write to the checkpoint store");
}

static void remove_dir(const struct al_store *store, const char *name)
{
    al_auto(al_freep) char *path = al_asprintf("%s/checkpoints.git/%s", store->dir, name);

    al_fs_remove_tree(path);
}

int al_quarantine_begin(struct al_quarantine *quarantine, struct al_store *store,
                        struct al_error *err)
{
    al_auto(al_freep) char *packs = NULL;
    uint64_t nonce;

    if (getrandom(&nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
        return al_error_errno(err, errno, "cannot get random bytes");
    (void)snprintf(quarantine->name, sizeof(quarantine->name), "objects/" PREFIX "%016" PRIx64,
                   nonce);
    if (mkdirat(store->bare.dir_fd, quarantine->name, 0700) < 0)
        return failed(errno, err);
    quarantine->store = store;
    store->bare.quarantine = quarantine->name;
    packs = al_fs_join(quarantine->name, "pack");
    if (mkdirat(store->bare.dir_fd, packs, 0700) < 0)
        return failed(errno, err);
    quarantine->pack_fd =
        openat(store->bare.dir_fd, packs, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return quarantine->pack_fd < 0 ? failed(errno, err) : 0;
}

static int sync_file(int dir_fd, const char *name, struct al_error *err)
{
    al_auto(al_closep) int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int r = fd < 0 ? -errno : al_fs_sync(fd);

    return r < 0 ? failed(-r, err) : 0;
}

/* A pack is named by what is in it, so one that the store has by now is replaced by itself. */
static int move_file(const struct al_quarantine *quarantine, const char *name, struct al_error *err)
{
    int r = sync_file(quarantine->pack_fd, name, err);

    if (r < 0)
        return r;
    return renameat(quarantine->pack_fd, name, quarantine->store->pack_fd, name) < 0
               ? failed(errno, err)
               : 0;
}

/* Move the indexes of packs, or their other files. */
static int move(const struct al_quarantine *quarantine, bool indexes, struct al_error *err)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(quarantine->pack_fd);
    struct dirent *entry;
    int r = 0;

    if (!dir)
        return failed(errno, err);
    while (r == 0 && (entry = readdir(dir)))
        if (al_starts_with(entry->d_name, "pack-") &&
            al_ends_with(entry->d_name, ".idx") == indexes)
            r = move_file(quarantine, entry->d_name, err);
    return r;
}

int al_quarantine_migrate(struct al_quarantine *quarantine, struct al_error *err)
{
    int r = move(quarantine, false, err);

    /* git looks for a pack when it finds an index. */
    if (r == 0)
        r = move(quarantine, true, err);
    if (r < 0)
        return r;
    r = al_fs_sync(quarantine->store->pack_fd);
    if (r < 0)
        return failed(-r, err);
    al_store_look_again(quarantine->store);
    al_quarantine_end(quarantine);
    return 0;
}

void al_quarantine_end(struct al_quarantine *quarantine)
{
    if (!quarantine->store)
        return;
    quarantine->store->bare.quarantine = NULL;
    remove_dir(quarantine->store, quarantine->name);
    al_close(quarantine->pack_fd);
    *quarantine = AL_QUARANTINE_INIT;
}

void al_quarantine_remove_leftovers(const struct al_store *store)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list(
        openat(store->bare.dir_fd, "objects", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir)))
        if (al_starts_with(entry->d_name, PREFIX)) {
            al_auto(al_freep) char *name = al_fs_join("objects", entry->d_name);

            remove_dir(store, name);
        }
}
