// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/recent_old.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "checkpoint/recent.h"
#include "checkpoint/recent_file.h"
#include "checkpoint/recent_head.h"
#include "checkpoint/recent_known.h"
#include "checkpoint/recent_settle.h"
#include "util/fs.h"

/* Whether the file has nothing, as an older airlock that is at work leaves it. */
static bool is_empty(struct al_store *store)
{
    al_recent_look(store);
    return al_recent_is_of_this_boot(store) && !store->recent.count;
}

/* A file of another boot may be torn. */
static int settle(struct al_store *store, struct al_deadline *deadline, struct al_error *err)
{
    return al_recent_is_of_this_boot(store) ? al_recent_settle_files(store, false, err)
                                            : al_recent_recover_files(store, deadline, err);
}

static int remove_file(struct al_store *store, struct al_error *err)
{
    if (unlinkat(store->dir_fd, AL_RECENT_OLD_NAME, 0) < 0 && errno != ENOENT)
        return al_recent_failed(errno, err);
    return al_fs_sync(store->dir_fd) < 0 ? al_recent_failed(EIO, err) : 0;
}

/* An older airlock that has the file open appends to it. */
static int begin_anew(struct al_store *store, struct al_error *err)
{
    uint64_t nonce;

    return al_recent_write_head(store->recent.fd, 1, store->sha256, &nonce, err);
}

static int take(struct al_store *store, bool alone, struct al_deadline *deadline,
                struct al_error *err)
{
    int r;

    if (!alone && is_empty(store))
        return 0;
    r = al_recent_lock(store->recent.fd, deadline, err);
    if (r < 0)
        return r;
    r = settle(store, deadline, err);
    if (r == 0)
        r = alone ? remove_file(store, err) : begin_anew(store, err);
    al_recent_unlock(store->recent.fd);
    return r;
}

int al_recent_take_old(struct al_store *store, struct al_deadline *deadline, struct al_error *err)
{
    bool alone;
    int r;

    store->recent.fd = openat(store->dir_fd, AL_RECENT_OLD_NAME, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (store->recent.fd < 0)
        return errno == ENOENT ? 0 : al_recent_failed(errno, err);
    alone = al_store_lock_alone(store);
    r = take(store, alone, deadline, err);
    if (alone)
        al_store_lock_shared(store);
    al_recent_clear(&store->recent);
    al_close(store->recent.fd);
    store->recent = (struct al_recent){ .fd = -1 };
    al_store_look_again(store);
    return r;
}
