// SPDX-License-Identifier: Apache-2.0
/*
 * Clearing a store up: joins small packs, drops old checkpoints, and removes objects that no other
 * checkpoint needs.
 *
 * It needs the store's lock exclusively, so that no checkpoint is taken or read meanwhile.  A
 * process tries after it has taken a checkpoint of its own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "git/location.h"
#include "git/plumbing/bare.h"
#include "history/aside.h"
#include "history/journal_private.h"
#include "history/keep.h"
#include "history/store.h"

/* More of them, each with few objects, slow every look-up. */
#define PACKS_MAX          100u
#define EXPIRY             "expiry"
#define EXPIRY_INTERVAL_NS (3600 * (int64_t)NS)
#define DAY_S              86400
#define NS                 1000000000
#define DROPPED_PART       4u /* of what may go, each time that the store is too large */
#define ROUNDS_MAX         8

/** The size of the directory of packs. */
struct size {
    size_t packs; /* without a .keep file */
    uint64_t bytes;
    bool leftovers; /* files of a writer that did not end as it should */
};

static int measure(const struct al_store *store, struct size *ret_size, struct al_error *err)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(store->pack_fd);
    struct size size = { .packs = 0 };
    struct dirent *entry;
    struct stat st;

    if (!dir)
        return al_store_unusable(store, errno, err);
    while ((entry = readdir(dir))) {
        if (fstatat(store->pack_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISREG(st.st_mode))
            continue;
        size.bytes += (uint64_t)st.st_size;
        size.packs += al_ends_with(entry->d_name, ".pack");
        size.packs -= al_ends_with(entry->d_name, ".keep");
        size.leftovers |= al_starts_with(entry->d_name, "tmp_");
    }
    *ret_size = size;
    return 0;
}

bool al_store_expiry_is_due(const struct al_store *store)
{
    const struct al_file_id last = al_file_id_at(store->dir_fd, EXPIRY);
    const int64_t now_ns = al_clock_ns();

    return !last.exists || last.mtime_ns + EXPIRY_INTERVAL_NS < now_ns || last.mtime_ns > now_ns;
}

void al_store_remove(const struct al_store *store, const char *in, const char *prefix,
                     const char *but)
{
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(openat(store->bare.dir_fd, in, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (al_starts_with(entry->d_name, prefix) && strcmp(entry->d_name, but) != 0)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
}

/* Objects that no checkpoint needs.  A file that was as the repository's HEAD had it when the store
 * began is in the repository alone, so git may miss it here.  Objects that have been packed
 * together take the place of all other packs, and of the loose objects of links. */
static int prune(struct al_store *store, struct al_error *err)
{
    al_auto(al_freep) char *hash = NULL;
    al_auto(al_freep) char *name = NULL;
    al_auto(al_closedirp) DIR *dir = NULL;
    struct dirent *entry;
    char loose[sizeof("objects/00")];
    int r = al_bare_pack(&store->bare, NULL, true, &hash, err);

    if (r == 0)
        r = al_store_sync_dir(store, "objects/pack", err);
    if (r < 0)
        return r;
    name = al_asprintf("pack-%s.", hash);
    dir = al_fs_list_at(store->pack_fd);
    while (dir && (entry = readdir(dir))) {
        al_auto(al_freep) char *keep =
            al_asprintf("%.*s.keep", (int)strcspn(entry->d_name, "."), entry->d_name);

        if (al_starts_with(entry->d_name, "pack-") && !al_starts_with(entry->d_name, name) &&
            faccessat(store->pack_fd, keep, F_OK, 0) < 0)
            (void)unlinkat(store->pack_fd, entry->d_name, 0);
    }
    for (unsigned i = 0; i <= UINT8_MAX; i++) {
        (void)snprintf(loose, sizeof(loose), "objects/%02x", i);
        al_store_remove(store, loose, "", "");
    }
    return 0;
}

/** The checkpoints of a store, oldest first. */
struct list {
    struct al_strv names; /* their references */
    int64_t *taken_ns;    /* since 1970 */
};

static void list_clear(struct list *list)
{
    al_strv_clear(&list->names);
    free(list->taken_ns);
}

/* Read lines "<name> SP <nanoseconds> SP <nonce>". */
static int list_all(struct al_store *store, struct list *ret_list, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *lines = NULL, *words = NULL;
    int r = al_bare_refs(&store->bare, al_git_sink(&text), err);

    for (char *line = strtok_r(text.buf, "\n", &lines); r == 0 && line;
         line = strtok_r(NULL, "\n", &lines)) {
        const char *name = strtok_r(line, " ", &words), *time = strtok_r(NULL, " ", &words);

        if (!time || (!al_starts_with(name, AL_REF_BEFORE) && !al_starts_with(name, AL_REF_AFTER)))
            continue;
        ret_list->taken_ns = al_reallocarray(ret_list->taken_ns, ret_list->names.count + 1,
                                             sizeof(*ret_list->taken_ns));
        ret_list->taken_ns[ret_list->names.count] = strtoll(time, NULL, 10);
        al_strv_add(&ret_list->names, name);
    }
    return r;
}

/* The index of the last execution's first checkpoint.  It and those after it always stay. */
static size_t last_execution(const struct list *list)
{
    size_t last = list->names.count;

    while (last && al_starts_with(list->names.items[last - 1], AL_REF_AFTER))
        last--;
    return last ? last - 1 : 0;
}

static size_t count_old(const struct list *list, size_t most, int64_t oldest_ns)
{
    size_t count = 0;

    while (count < most && list->taken_ns[count] < oldest_ns)
        count++;
    return count;
}

/* Drop the `count` oldest checkpoints and the objects that only they needed. */
static int drop_and_prune(struct al_store *store, const struct list *list, size_t count,
                          struct al_error *err)
{
    const struct al_strv names = { .items = list->names.items, .count = count };
    int r = count ? al_bare_delete_refs(&store->bare, &names, err) : 0;

    if (r == 0)
        r = al_store_sync_dir(store, AL_REF_BEFORE, err);
    if (r == 0)
        r = al_store_sync_dir(store, AL_REF_AFTER, err);
    if (r < 0)
        return r;
    al_keep_release(store,
                    list->taken_ns[count < list->names.count ? count : list->names.count - 1] / NS);
    return prune(store, err);
}

/* Checkpoints taken since then stay, even in a store that is too large. */
static int64_t kept_since_ns(const struct al_store *store)
{
    const struct al_checkpoint_settings *settings = store->settings;
    int64_t since_ns = al_clock_ns() - (int64_t)settings->keep_s * NS;

    return settings->began_ns && settings->began_ns < since_ns ? settings->began_ns : since_ns;
}

/* The number of the oldest checkpoints that are dropped now: those that are too old, and a part of
 * those that may go if the store is too large. */
static size_t count_garbage(const struct al_store *store, const struct list *list,
                            int64_t oldest_ns, bool too_large)
{
    const size_t most = last_execution(list), old = count_old(list, most, oldest_ns);
    const size_t droppable = too_large ? count_old(list, most, kept_since_ns(store)) : 0;
    const size_t part = (droppable + DROPPED_PART - 1) / DROPPED_PART;

    return old > part ? old : part;
}

/* @param due  Look for what is too old, and prune even if nothing can be dropped. */
static int collect_once(struct al_store *store, bool due, bool *ret_again, struct al_error *err)
{
    al_auto(list_clear) struct list list = { .taken_ns = NULL };
    al_auto(al_closep) int common_fd = -1;
    int64_t oldest_ns = al_clock_ns() - (int64_t)store->settings->max_age_days * DAY_S * NS;
    struct size size = { .bytes = 0 };
    size_t count;
    int r = measure(store, &size, err);

    *ret_again = size.bytes > store->settings->max_store_bytes;
    if (r < 0 || (!due && !*ret_again))
        return r;
    r = list_all(store, &list, err);
    if (r < 0)
        return r;
    count = count_garbage(store, &list, due ? oldest_ns : 0, *ret_again);
    if (due && list.names.count && list.taken_ns[last_execution(&list)] < oldest_ns)
        oldest_ns = list.taken_ns[last_execution(&list)];
    /* A record aside goes when no checkpoint can be old enough to need it, or all take too much
     * room. Other working trees have stores of their own, so only the age of this one's counts. */
    if (due && al_location_open_common_dir(&store->repo->at, &common_fd, NULL) == 0)
        (void)al_aside_gc(common_fd, oldest_ns, kept_since_ns(store),
                          store->settings->max_store_bytes);
    if (count || (due && *ret_again && list.names.count))
        return drop_and_prune(store, &list, count, err);
    *ret_again = false; /* what must stay needs this much room */
    return 0;
}

int al_store_gc(struct al_store *store, struct al_error *err)
{
    const bool due = al_store_expiry_is_due(store);
    struct size size = { .bytes = 0 };
    bool again = true;
    int r = measure(store, &size, err);

    if (r < 0 || (size.packs <= PACKS_MAX && size.bytes <= store->settings->max_store_bytes &&
                  !due && !size.leftovers))
        return r;
    /* flock(2) may release the shared lock when an exclusive one is asked for: between the two
     * another process may be alone for a moment.  The store was locked before, so this file system
     * has locks. */
    if (flock(store->lock_fd, LOCK_EX | LOCK_NB) < 0) {
        (void)al_journal_lock(store->lock_fd, LOCK_SH);
        return 0;
    }
    /* Its packs are kept until it has ended.  One that is kept when git packs, and not any more
     * when prune() looks, would be lost. */
    al_beside_clear(&store->import);
    /* The files of writers that were killed: no other process is writing now. */
    al_store_remove(store, "objects/pack", "tmp_", "");
    al_store_remove(store, "objects/pack", ".tmp-", "");
    al_store_remove(store, ".", "fast_import_crash_", "");
    al_store_remove(store, ".", "tree-", "");
    al_store_remove(store, "refs/new", "", "");
    for (int round = 0; r == 0 && again && round < ROUNDS_MAX; round++)
        r = collect_once(store, due && !round, &again, err);
    if (r == 0 && due)
        (void)al_fs_write_atomic(store->dir_fd, EXPIRY, "", 0, 0600, true);
    if (r == 0)
        r = measure(store, &size, err);
    if (r == 0 && size.packs > PACKS_MAX)
        r = al_bare_tidy(&store->bare, true, err);
    (void)al_journal_lock(store->lock_fd, LOCK_SH);
    return r;
}

int al_store_room(struct al_store *store, enum al_room *ret_room, struct al_error *err)
{
    al_auto(list_clear) struct list list = { .taken_ns = NULL };
    uint64_t most = store->settings->max_store_bytes;
    struct size size = { .bytes = 0 };
    int r = measure(store, &size, err);

    *ret_room = AL_ROOM_ENOUGH;
    if (r < 0 || size.bytes <= most)
        return r;
    r = list_all(store, &list, err);
    if (r < 0)
        return r;
    if (!count_old(&list, list.names.count, kept_since_ns(store)))
        *ret_room = size.bytes / 2 < most ? AL_ROOM_SHORT : AL_ROOM_NONE;
    return 0;
}
