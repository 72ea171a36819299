// SPDX-License-Identifier: Apache-2.0
/*
 * Clearing the store up.  It holds the lock, so no record is written meanwhile.
 *
 * References are first made to agree with the records, which are the truth: what a record names is
 * kept even if its reference was lost.  Objects that nothing names stay for a day, because a push
 * that waits for its approval has some.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "odb/pack_index.h"
#include "staging/markers.h"
#include "staging/stage.h"
#include "staging/staged_record.h"
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

static int count_bytes(const struct al_staging *staging, uint64_t *ret_bytes, struct al_error *err)
{
    struct al_packs_size size;
    int r = al_packs_measure(staging->pack_fd, &size, err);

    *ret_bytes = r < 0 ? 0 : size.bytes;
    return r;
}

/* A reference that is packed is left to the next gc. */
static void drop_base(struct al_staging *staging, const char *name)
{
    al_auto(al_freep) char *file = al_asprintf("%s.json", name);
    al_auto(al_freep) char *ref = al_asprintf(AL_REF_BASE "%s", name);

    (void)unlinkat(staging->sandboxes_fd, file, 0);
    (void)unlinkat(staging->bare.dir_fd, ref, 0);
}

/* Remove what the sandbox last saw of branches: "<key>-<digits>.json". */
static void drop_origins(struct al_staging *staging, const char *key)
{
    static const char suffix[] = ".json";
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(staging->sandboxes_fd);
    al_auto(al_freep) char *prefix = al_asprintf("%s-", key);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        al_auto(al_freep) char *name = al_strdup(entry->d_name);

        if (!al_starts_with(name, prefix) || !al_ends_with(name, suffix))
            continue;
        name[strlen(name) - strlen(suffix)] = '\0';
        drop_base(staging, name);
    }
}

void al_staging_drop_sandbox(struct al_staging *staging, const char *key)
{
    al_auto(al_freep) char *alive = al_asprintf("%s.alive", key);

    drop_origins(staging, key);
    drop_base(staging, key);
    al_markers_drop(staging, key);
    (void)unlinkat(staging->sandboxes_fd, alive, 0);
}

/* Names in a directory that end in `suffix`, without it. */
static int list_names(const struct al_staging *staging, int dir_fd, const char *suffix,
                      struct al_strv *ret_names, struct al_error *err)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    struct dirent *entry;

    if (!dir)
        return al_staging_unusable(staging, errno, err);
    while ((entry = readdir(dir)))
        if (entry->d_name[0] != '.' && al_ends_with(entry->d_name, suffix))
            al_strv_take(ret_names,
                         al_strndup(entry->d_name, strlen(entry->d_name) - strlen(suffix)));
    return 0;
}

/* Remove the bases of memory sandboxes whose process is gone. */
static int drop_dead_sandboxes(struct al_staging *staging, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv keys = AL_STRV_INIT;
    int r = list_names(staging, staging->sandboxes_fd, ".alive", &keys, err);

    for (size_t i = 0; i < keys.count && r == 0; i++) {
        al_auto(al_freep) char *name = al_asprintf("%s.alive", keys.items[i]);
        al_auto(al_closep) int fd =
            openat(staging->sandboxes_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

        if (strcmp(keys.items[i], staging->key) != 0 && fd >= 0 &&
            flock(fd, LOCK_EX | LOCK_NB) == 0)
            al_staging_drop_sandbox(staging, keys.items[i]);
    }
    return r;
}

/* Point a reference at the object that its record names, unless it does already. */
static int restore_ref(struct al_staging *staging, const char *prefix, const char *name,
                       const char *oid_text, struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf("%s%s", prefix, name);
    struct al_oid wanted, present;

    if (!oid_text || !al_oid_parse(oid_text, staging->options.sha256, &wanted))
        return 0; /* a damaged record: its reference stays as it is */
    if (al_staging_read_ref(staging, ref, &present, NULL) == 0 && al_oid_equal(&wanted, &present))
        return 0;
    return al_staging_write_ref(staging, ref, &wanted, err);
}

/* The records of a directory, and the member of each that names its object. */
struct kind {
    int dir_fd;
    const char *prefix, *member;
};

static int restore_refs(struct al_staging *staging, const struct kind *kind,
                        struct al_strv *ret_kept, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r = list_names(staging, kind->dir_fd, ".json", &names, err);

    for (size_t i = 0; i < names.count && r == 0; i++) {
        al_auto(al_freep) char *file = al_asprintf("%s.json", names.items[i]);
        al_auto(al_json_decrefp) json_t *object = NULL;

        al_strv_addf(ret_kept, "%s%s", kind->prefix, names.items[i]);
        if (al_staging_read_json(staging, kind->dir_fd, file, &object, NULL) == 0)
            r = restore_ref(staging, kind->prefix, names.items[i],
                            al_json_get_string(object, kind->member), err);
    }
    return r;
}

static bool add_bytes(void *payload, const char *data, size_t len)
{
    al_str_add(payload, data, len);
    return true;
}

/* Delete the references that no record stands for. */
static int drop_other_refs(struct al_staging *staging, struct al_strv *kept,
                           struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv garbage = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    char *save = NULL;
    int r = al_bare_ref_names(&staging->bare, (struct al_sink){ add_bytes, &lines }, budget, err);

    if (r < 0)
        return r;
    al_strv_sort(kept);
    for (char *ref = strtok_r(lines.buf, "\n", &save); ref; ref = strtok_r(NULL, "\n", &save))
        if (!al_strv_contains_sorted(kept, ref))
            al_strv_add(&garbage, ref);
    return garbage.count ? al_bare_delete_refs(&staging->bare, &garbage, budget, err) : 0;
}

/* Remove the files of writers that were killed. */
static void remove_leftovers(int dir_fd)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir)))
        if (al_starts_with(entry->d_name, "tmp_") || al_starts_with(entry->d_name, ".tmp-") ||
            al_starts_with(entry->d_name, ".airlock-"))
            (void)unlinkat(dir_fd, entry->d_name, 0);
}

/* Delete objects that nothing names.  All packs are written anew for that, so it has to be worth
 * it; and it is not tried again at once if it failed. */
static int expire(struct al_staging *staging, const char *expiry, struct al_run_limits *budget,
                  struct al_error *err)
{
    uint64_t bytes, settled = settled_bytes(staging);
    int r = count_bytes(staging, &bytes, err);

    if (r == 0 && bytes > settled + staging->options.max_bytes) {
        r = al_bare_expire(&staging->bare, expiry, budget, err);
        if (r == 0)
            r = count_bytes(staging, &settled, err);
    }
    record_sweep(staging, settled);
    return r;
}

static int sweep(struct al_staging *staging, const char *expiry, struct al_run_limits *budget,
                 struct al_error *err)
{
    const struct kind kinds[] = {
        { staging->staged_fd, AL_REF_STAGED, "commit" },
        { staging->sandboxes_fd, AL_REF_BASE, "tree" },
    };
    al_auto(al_strv_clear) struct al_strv kept = AL_STRV_INIT;
    int r = drop_dead_sandboxes(staging, err);

    remove_leftovers(staging->pack_fd);
    remove_leftovers(staging->bare.dir_fd);
    for (size_t i = 0; i < AL_COUNT(kinds) && r == 0; i++) {
        remove_leftovers(kinds[i].dir_fd);
        r = restore_refs(staging, &kinds[i], &kept, err);
    }
    if (r == 0)
        r = drop_other_refs(staging, &kept, budget, err);
    return r < 0 ? r : expire(staging, expiry, budget, err);
}

int al_staging_make_room(struct al_staging *staging, struct al_run_limits *budget,
                         struct al_error *err)
{
    uint64_t bytes;
    int r = count_bytes(staging, &bytes, err);

    if (r < 0 ||
        bytes <= settled_bytes(staging) + AL_STAGE_STORE_FACTOR * staging->options.max_bytes)
        return r;
    return sweep(staging, "now", budget, err);
}

int al_staging_gc(struct al_staging *staging, struct al_run_limits *budget, struct al_error *err)
{
    struct al_packs_size size;
    int r = al_packs_measure(staging->pack_fd, &size, err);

    if (r < 0 || (size.unkept <= PACKS_MAX && !is_due(staging)))
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
