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
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gitops/location.h"
#include "gitops/plumbing/bare.h"
#include "history/aside.h"
#include "history/files.h"
#include "history/keep.h"
#include "history/store.h"
#include "util/fs.h"

/* More of them, each with few objects, slow every look-up. */
#define PACKS_MAX         100u
#define EXPIRY_INTERVAL_S 3600
#define DAY_S             86400
#define NS                1000000000
#define ROUNDS_MAX        4
#define FILL_PERCENT      80u /* a store that was too large shrinks to this part of its limit */

/** The size of the directory of packs. */
struct size {
    size_t packs; /* without a .keep file */
    uint64_t bytes;
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
    }
    *ret_size = size;
    return 0;
}

/* Whether it is time to look for checkpoints that are too old. */
static bool is_expiry_due(const struct al_store *store)
{
    struct stat st;

    return fstatat(store->dir_fd, "expiry", &st, AT_SYMLINK_NOFOLLOW) < 0 ||
           st.st_mtim.tv_sec + EXPIRY_INTERVAL_S < time(NULL) || st.st_mtim.tv_sec > time(NULL);
}

static void record_expiry(const struct al_store *store)
{
    al_auto(al_closep) int fd =
        openat(store->dir_fd, "expiry", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd >= 0)
        (void)futimens(fd, NULL);
}

/* Remove what begins with one of two texts from a directory of the bare repository. */
static void remove_named(const struct al_store *store, const char *in, const char *a, const char *b)
{
    al_auto(al_closep) int fd =
        openat(store->bare.dir_fd, in, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    al_auto(al_closedirp) DIR *dir = fd < 0 ? NULL : al_fs_list_at(fd);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (al_starts_with(entry->d_name, a) || al_starts_with(entry->d_name, b))
            (void)unlinkat(fd, entry->d_name, 0);
}

/* Remove the files of writers that were killed.  No other process is writing now. */
static void remove_leftovers(const struct al_store *store)
{
    remove_named(store, "objects/pack", "tmp_", ".tmp-");
    remove_named(store, ".", "fast_import_crash_", "tree-");
    remove_named(store, "refs/new", "", "");
}

/* Objects that no checkpoint needs.  A file that was as the repository's HEAD had it when the store
 * began is in the repository alone, so git may miss it here.  What has been packed together takes
 * the place of all other packs. */
static int prune(struct al_store *store, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *hash = NULL;
    al_auto(al_freep) char *name = NULL;
    al_auto(al_closedirp) DIR *dir = NULL;
    struct dirent *entry;
    int r = al_bare_pack_all(&store->bare, budget, &hash, err);

    if (r < 0)
        return r;
    name = al_asprintf("pack-%s.", hash ? hash : "");
    dir = al_fs_list_at(store->pack_fd);
    for (int pass = 0; dir && pass < 2; pass++, rewinddir(dir)) /* an index goes before its pack */
        while ((entry = readdir(dir))) {
            const bool index = al_ends_with(entry->d_name, ".idx");
            al_auto(al_freep) char *keep =
                al_asprintf("%.*s.keep", (int)strcspn(entry->d_name, "."), entry->d_name);

            if (al_starts_with(entry->d_name, "pack-") && index == (pass == 0) &&
                !al_starts_with(entry->d_name, name) && !al_ends_with(entry->d_name, ".keep") &&
                faccessat(store->pack_fd, keep, F_OK, 0) < 0)
                (void)unlinkat(store->pack_fd, entry->d_name, 0);
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
static int list_all(struct al_store *store, struct al_run_limits *budget, struct list *ret_list,
                    struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *lines = NULL, *words = NULL;
    int r = al_bare_refs(&store->bare, al_git_sink(&text), budget, err);

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

/* Delete the references of the first `count` checkpoints, which are the oldest. */
static int drop(struct al_store *store, const struct list *list, size_t count,
                struct al_run_limits *budget, struct al_error *err)
{
    const struct al_strv names = { .items = list->names.items, .count = count };
    int r;

    if (!count)
        return 0;
    r = al_bare_delete_refs(&store->bare, &names, budget, err);
    if (r == 0)
        r = al_store_sync_dir(store, AL_REF_BEFORE, err);
    return r < 0 ? r : al_store_sync_dir(store, AL_REF_AFTER, err);
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
                          struct al_run_limits *budget, struct al_error *err)
{
    int r = drop(store, list, count, budget, err);

    if (r < 0)
        return r;
    al_keep_release(store,
                    list->taken_ns[count < list->names.count ? count : list->names.count - 1] / NS);
    return prune(store, budget, err);
}

/* The number of checkpoints to drop so that a store of `bytes` fits; at least one if there are any.
 */
static size_t count_excess(const struct al_store *store, size_t most, uint64_t bytes)
{
    uint64_t wanted = store->settings->max_store_bytes / 100 * FILL_PERCENT;
    size_t keep = (size_t)((double)most * (double)wanted / (double)bytes);

    return most - (keep < most ? keep : most - (most > 0));
}

/* Checkpoints taken since then stay, even in a store that is too large. */
static int64_t kept_since_ns(const struct al_store *store)
{
    const struct al_checkpoint_settings *settings = store->settings;
    int64_t since_ns = al_store_now_ns() - (int64_t)settings->keep_s * NS;

    return settings->began_ns && settings->began_ns < since_ns ? settings->began_ns : since_ns;
}

/* The number of checkpoints that may be dropped, oldest first. */
static size_t count_droppable(const struct al_store *store, const struct list *list, size_t most)
{
    return count_old(list, most, kept_since_ns(store));
}

/* With `due`, prune at least once even if no checkpoint can be dropped. */
static int shrink(struct al_store *store, bool due, struct al_run_limits *budget,
                  struct al_error *err)
{
    int r = 0;

    for (int round = 0; round < ROUNDS_MAX && r == 0; round++) {
        al_auto(list_clear) struct list list = { .taken_ns = NULL };
        struct size size = { .bytes = 0 };
        size_t count, droppable;

        r = measure(store, &size, err);
        if (r < 0 || size.bytes <= store->settings->max_store_bytes)
            return r;
        r = list_all(store, budget, &list, err);
        if (r < 0)
            return r;
        count = count_excess(store, last_execution(&list), size.bytes);
        droppable = count_droppable(store, &list, last_execution(&list));
        count = count < droppable ? count : droppable;
        if (!count && (round || !due))
            return 0; /* what must stay needs this much room */
        r = list.names.count ? drop_and_prune(store, &list, count, budget, err) : 0;
    }
    return r;
}

/* What is aside goes when no checkpoint can be old enough to need it, or takes too much room; other
 * working trees have stores of their own, so only the age of this one's counts. */
static void drop_aside(const struct al_store *store, int64_t needed_since_ns)
{
    al_auto(al_closep) int common_fd = -1;

    if (al_location_open_common_dir(&store->repo->at, &common_fd, NULL) == 0)
        (void)al_aside_gc(common_fd, needed_since_ns, kept_since_ns(store),
                          store->settings->max_store_bytes);
}

static int drop_expired(struct al_store *store, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(list_clear) struct list list = { .taken_ns = NULL };
    int64_t oldest_ns = al_store_now_ns() - (int64_t)store->settings->max_age_days * DAY_S * NS;
    size_t count;
    int r = list_all(store, budget, &list, err);

    if (r < 0)
        return r;
    count = count_old(&list, last_execution(&list), oldest_ns);
    if (list.names.count && list.taken_ns[last_execution(&list)] < oldest_ns)
        oldest_ns = list.taken_ns[last_execution(&list)];
    drop_aside(store, oldest_ns);
    r = count ? drop_and_prune(store, &list, count, budget, err) : 0;
    if (r == 0)
        record_expiry(store);
    return r;
}

static int collect_garbage(struct al_store *store, struct al_run_limits *budget,
                           struct al_error *err)
{
    struct size size = { .bytes = 0 };
    const bool due = is_expiry_due(store);
    int r = measure(store, &size, err);

    remove_leftovers(store);
    if (r == 0 && due)
        r = drop_expired(store, budget, err);
    if (r == 0 && size.bytes > store->settings->max_store_bytes)
        r = shrink(store, due, budget, err);
    if (r == 0 && size.packs > PACKS_MAX)
        r = al_bare_tidy(&store->bare, budget, err);
    return r;
}

int al_store_gc(struct al_store *store, struct al_run_limits *budget, struct al_error *err)
{
    struct size size = { .bytes = 0 };
    int r = measure(store, &size, err);

    if (r < 0)
        return r;
    if (size.packs <= PACKS_MAX && size.bytes <= store->settings->max_store_bytes &&
        !is_expiry_due(store))
        return 0;
    if (!al_store_lock_alone(store))
        return 0;
    r = collect_garbage(store, budget, err);
    al_store_lock_shared(store);
    return r;
}

int al_store_room(struct al_store *store, struct al_run_limits *budget, enum al_room *ret_room,
                  struct al_error *err)
{
    al_auto(list_clear) struct list list = { .taken_ns = NULL };
    uint64_t most = store->settings->max_store_bytes;
    struct size size = { .bytes = 0 };
    int r = measure(store, &size, err);

    *ret_room = AL_ROOM_ENOUGH;
    if (r < 0 || size.bytes <= most)
        return r;
    r = list_all(store, budget, &list, err);
    if (r < 0)
        return r;
    if (!count_droppable(store, &list, list.names.count))
        *ret_room = size.bytes / 2 < most ? AL_ROOM_SHORT : AL_ROOM_NONE;
    return 0;
}
