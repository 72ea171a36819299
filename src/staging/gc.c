// SPDX-License-Identifier: Apache-2.0
/*
 * Clearing the store up.  It holds the lock, so no record is written meanwhile.
 *
 * References of staged commits go with their records, and those of memory sandboxes with their
 * processes.  Objects that nothing names stay for a day, because a push that waits for its approval
 * has some.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "staging/stage.h"
#include "staging/store.h"
#include "util/fs.h"

#define INTERVAL_S 3600
#define PACKS_MAX  40u /* more of them, each with few objects, slow every look-up */
#define EXPIRY     "1.day.ago"

static bool is_due(const struct al_staging *staging)
{
    struct stat st;

    return fstatat(staging->dir_fd, "swept", &st, AT_SYMLINK_NOFOLLOW) < 0 ||
           st.st_mtim.tv_sec + INTERVAL_S < time(NULL) || st.st_mtim.tv_sec > time(NULL);
}

/* The size of the packs when objects were deleted last; 0: never. */
static uint64_t settled_bytes(const struct al_staging *staging)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    uint64_t bytes = 0;

    if (al_fs_read(staging->dir_fd, "swept", 64, &text) < 0)
        return 0;
    for (const char *at = text.buf; *at >= '0' && *at <= '9'; at++)
        bytes = bytes * 10 + (uint64_t)(*at - '0');
    return bytes;
}

static void record_sweep(const struct al_staging *staging, uint64_t bytes)
{
    al_auto(al_freep) char *text = al_asprintf("%" PRIu64 "\n", bytes);

    (void)al_fs_write_atomic(staging->dir_fd, "swept", text, strlen(text), 0600, true);
}

/* The packs of the store. */
struct packs {
    size_t count;
    uint64_t bytes; /* of all files */
};

static int measure(const struct al_staging *staging, struct packs *ret_packs, struct al_error *err)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(staging->pack_fd);
    struct dirent *entry;

    *ret_packs = (struct packs){ 0 };
    if (!dir)
        return al_staging_unusable(staging, errno, err);
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        ret_packs->bytes += al_file_id_at(staging->pack_fd, entry->d_name).size;
        ret_packs->count += al_ends_with(entry->d_name, ".pack");
    }
    return 0;
}

/* Remove the files of a directory whose names begin with one of some prefixes or have this suffix.
 */
static void remove_files(int dir_fd, const char *const *prefixes, const char *suffix)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        bool goes = suffix && al_ends_with(entry->d_name, suffix);

        for (size_t i = 0; prefixes[i]; i++)
            goes |= al_starts_with(entry->d_name, prefixes[i]);
        if (goes)
            (void)unlinkat(dir_fd, entry->d_name, 0);
    }
}

/* --- Sandboxes in memory whose process is gone --- */

/* Its base and its origins are "refs/base/<key>" and "refs/base/<key>-<digits>".  One that is
 * packed is left to the next gc. */
void al_staging_drop_sandbox(struct al_staging *staging, const char *key)
{
    const char *const names[] = { key, NULL };
    al_auto(al_closep) int refs_fd =
        openat(staging->bare.dir_fd, "refs/base", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (refs_fd >= 0)
        remove_files(refs_fd, names, NULL);
    remove_files(staging->sandboxes_fd, names, NULL);
}

static void drop_dead_sandboxes(struct al_staging *staging)
{
    static const char suffix[] = ".alive";
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(staging->sandboxes_fd);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        al_auto(al_freep) char *key = al_strdup(entry->d_name);
        al_auto(al_closep) int fd = -1;

        if (!al_ends_with(key, suffix))
            continue;
        key[strlen(key) - strlen(suffix)] = '\0';
        fd = openat(staging->sandboxes_fd, entry->d_name,
                    O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (strcmp(key, staging->key) != 0 && fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            al_staging_drop_sandbox(staging, key);
    }
}

/* --- References --- */

static bool is_needed(const struct al_staging *staging, const char *ref)
{
    if (al_starts_with(ref, AL_REF_STAGED)) {
        al_auto(al_freep) char *record = al_asprintf("%s.json", ref + strlen(AL_REF_STAGED));

        return al_file_id_at(staging->staged_fd, record).exists;
    }
    if (al_starts_with(ref, AL_REF_BASE)) {
        al_auto(al_freep) char *key = al_strdup(ref + strlen(AL_REF_BASE));

        key[strcspn(key, "-")] = '\0';
        return !al_staging_is_gone(staging, key);
    }
    return true;
}

static bool add_bytes(void *payload, const char *data, size_t len)
{
    al_str_add(payload, data, len);
    return true;
}

/* Delete the references that nothing stands for. */
static int drop_refs(struct al_staging *staging, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv garbage = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    char *save = NULL;
    int r = al_bare_ref_names(&staging->bare, (struct al_sink){ add_bytes, &lines }, budget, err);

    if (r < 0)
        return r;
    for (char *ref = strtok_r(lines.buf, "\n", &save); ref; ref = strtok_r(NULL, "\n", &save))
        if (!is_needed(staging, ref))
            al_strv_add(&garbage, ref);
    return garbage.count ? al_bare_delete_refs(&staging->bare, &garbage, budget, err) : 0;
}

/* --- Objects --- */

/* Delete objects that nothing names.  All packs are written anew for that, so it has to be worth
 * it; and it is not tried again at once if it failed. */
static int expire(struct al_staging *staging, const char *expiry, struct al_run_limits *budget,
                  struct al_error *err)
{
    const uint64_t settled = settled_bytes(staging);
    struct packs packs;
    int r = measure(staging, &packs, err);

    if (r == 0 && packs.bytes > settled + staging->options.max_bytes) {
        r = al_bare_expire(&staging->bare, expiry, budget, err);
        if (r == 0)
            r = measure(staging, &packs, err);
    } else {
        packs.bytes = settled;
    }
    record_sweep(staging, r < 0 ? settled : packs.bytes);
    return r;
}

static int sweep(struct al_staging *staging, const char *expiry, struct al_run_limits *budget,
                 struct al_error *err)
{
    /* Of writers that were killed: nobody else writes now. */
    static const char *const unfinished[] = { "tmp_", ".tmp-", ".airlock-", "fast_import_crash_",
                                              NULL };
    int r;

    drop_dead_sandboxes(staging);
    remove_files(staging->pack_fd, unfinished, ".keep");
    remove_files(staging->bare.dir_fd, unfinished, ".lock");
    remove_files(staging->staged_fd, unfinished, NULL);
    remove_files(staging->sandboxes_fd, unfinished, NULL);
    r = drop_refs(staging, budget, err);
    return r < 0 ? r : expire(staging, expiry, budget, err);
}

int al_staging_make_room(struct al_staging *staging, struct al_run_limits *budget,
                         struct al_error *err)
{
    struct packs packs;
    int r = measure(staging, &packs, err);

    if (r < 0 ||
        packs.bytes <= settled_bytes(staging) + AL_STAGE_STORE_FACTOR * staging->options.max_bytes)
        return r;
    return sweep(staging, "now", budget, err);
}

int al_staging_gc(struct al_staging *staging, struct al_run_limits *budget, struct al_error *err)
{
    struct packs packs;
    int r = measure(staging, &packs, err);

    if (r < 0 || (packs.count <= PACKS_MAX && !is_due(staging)))
        return r;
    r = al_staging_lock(staging, budget, err);
    if (r < 0)
        return r;
    if (is_due(staging))
        r = sweep(staging, EXPIRY, budget, err);
    else
        r = al_bare_tidy(&staging->bare, budget, err);
    al_staging_unlock(staging);
    return r;
}
