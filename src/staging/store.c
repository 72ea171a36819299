// SPDX-License-Identifier: Apache-2.0
#include "staging/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/secret.h"
#include "git/command.h"
#include "git/plumbing/bare.h"
#include "git/run.h"
#include "guard/root.h"
#include "staging/sandbox/sandbox.h"
#include "staging/stage.h"

#define LOCK_POLL_MS 10

int al_staging_unusable(const struct al_staging *staging, int errno_value, struct al_error *err)
{
    return al_error_errno(err, errno_value, "cannot use the staging store '%s'", staging->dir);
}

static int lock_file(struct al_staging *staging, struct al_deadline *deadline, struct al_error *err)
{
    while (flock(staging->lock_fd, LOCK_EX | LOCK_NB) < 0) {
        int r;

        if (errno != EWOULDBLOCK && errno != EINTR)
            return al_staging_unusable(staging, errno, err);
        r = al_deadline_check(deadline, err);
        if (r < 0)
            return r;
        (void)poll(NULL, 0, LOCK_POLL_MS);
    }
    return 0;
}

int al_staging_lock(struct al_staging *staging, struct al_run_limits *budget, struct al_error *err)
{
    struct al_deadline deadline = al_deadline_begin(budget);
    int r = 0;

    while (pthread_mutex_trylock(&staging->mutex) != 0) {
        r = al_deadline_check(&deadline, err);
        if (r < 0)
            return r;
        (void)poll(NULL, 0, LOCK_POLL_MS);
    }
    if (staging->depth++ == 0)
        r = lock_file(staging, &deadline, err);
    al_deadline_sync(&deadline);
    if (r < 0) {
        staging->depth--;
        (void)pthread_mutex_unlock(&staging->mutex);
    }
    return r;
}

void al_staging_unlock(struct al_staging *staging)
{
    if (--staging->depth == 0)
        (void)flock(staging->lock_fd, LOCK_UN);
    (void)pthread_mutex_unlock(&staging->mutex);
}

struct al_location al_staging_bare(const struct al_staging *staging, struct al_run_limits *budget)
{
    struct al_location bare = staging->bare;

    bare.budget = budget;
    return bare;
}

bool al_staging_read_ref(const struct al_staging *staging, const char *name, struct al_oid *ret_oid)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    return al_fs_read(staging->bare.dir_fd, name, 256, &text) == 0 &&
           al_oid_parse(text.buf, staging->options.sha256, ret_oid);
}

int al_staging_delete_ref(struct al_staging *staging, const char *name, struct al_error *err)
{
    al_auto(al_freep) char *dir = al_strndup(name, (size_t)(strrchr(name, '/') - name));

    if (unlinkat(staging->bare.dir_fd, name, 0) < 0 && errno != ENOENT)
        return al_staging_unusable(staging, errno, err);
    return al_staging_sync(staging, dir, err);
}

int al_staging_sync(const struct al_staging *staging, const char *dir, struct al_error *err)
{
    al_auto(al_closep) int fd =
        openat(staging->bare.dir_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const int r = fd < 0 ? -errno : al_fs_sync(fd);

    /* git removes directories of references that became empty. */
    return r < 0 && r != -ENOENT ? al_staging_unusable(staging, -r, err) : 0;
}

/* --- The session --- */

#define MEMORY          'm'   /* begins the key of a sandbox in memory; all others are digits */
#define READ_TIMEOUT_MS 60000 /* for files that the sandbox reads from the store */
#define DROP_TIMEOUT_MS 1000  /* for the lock at the end of a session */

void al_staging_make_key(const char *first, const char *second, char ret_key[AL_STAGING_KEY_TEXT])
{
    struct al_hash hash;
    char text[AL_OID_TEXT];

    al_hash_init(&hash, true);
    al_hash_add(&hash, first, strlen(first) + 1);
    al_hash_add(&hash, second, strlen(second) + 1);
    al_hash_text(&hash, text);
    (void)snprintf(ret_key, AL_STAGING_KEY_TEXT, "%.*s", AL_STAGING_KEY_TEXT - 1, text);
}

/* --- Directories --- */

static int open_dir(const struct al_staging *staging, int dir_fd, const char *name, int *ret_fd,
                    struct al_error *err)
{
    if (mkdirat(dir_fd, name, 0700) == 0) {
        if (al_fs_sync(dir_fd) < 0)
            return al_staging_unusable(staging, EIO, err);
    } else if (errno != EEXIST) {
        return al_staging_unusable(staging, errno, err);
    }
    *ret_fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return *ret_fd < 0 ? al_staging_unusable(staging, errno, err) : 0;
}

static int open_top(struct al_staging *staging, struct al_error *err)
{
    bool must_exist = staging->options.must_exist;
    int r = must_exist ? 0 : al_fs_mkdirs(staging->dir, 0700);

    if (r < 0)
        return al_staging_unusable(staging, -r, err);
    staging->dir_fd = open(staging->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (staging->dir_fd < 0 && errno == ENOENT && must_exist)
        return al_error_set(err, AL_ERR_NOT_FOUND, "nothing was ever staged");
    if (staging->dir_fd < 0)
        return al_staging_unusable(staging, errno, err);
    staging->lock_fd =
        openat(staging->dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return staging->lock_fd < 0 ? al_staging_unusable(staging, errno, err) : 0;
}

/* Open everything below the top.  Processes that create it at the same time create the same. */
static int open_parts(struct al_staging *staging, struct al_error *err)
{
    static const char *const refs[] = { "refs/staged", "refs/base", NULL };
    struct al_location *bare = &staging->bare;
    int r = open_dir(staging, staging->dir_fd, "staged", &staging->staged_fd, err);

    if (r == 0)
        r = open_dir(staging, staging->dir_fd, "sandboxes", &staging->sandboxes_fd, err);
    if (r == 0)
        r = open_dir(staging, staging->dir_fd, "store.git", &bare->dir_fd, err);
    if (r < 0)
        return r;
    /* A repository that lends objects may have a commit-graph that tells other trees and parents
     * than its commits do. */
    r = al_bare_open(bare, staging->options.sha256, refs,
                     "[core]\n\tbigFileThreshold = 4m\n\tcommitGraph = false\n", NULL);
    if (r < 0)
        return al_staging_unusable(staging, -r, err);
    staging->pack_fd =
        openat(bare->dir_fd, "objects/pack", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return staging->pack_fd < 0 ? al_staging_unusable(staging, errno, err) : 0;
}

/* --- The sandbox --- */

static int read_blobs(void *payload, const char *const *oids, size_t count, al_blob_take *take,
                      void *take_payload, struct al_error *err)
{
    struct al_staging *staging = payload;
    struct al_run_limits budget = { .left_ms = READ_TIMEOUT_MS };
    const struct al_location bare = al_staging_bare(staging, &budget);

    return al_bare_read(&bare, oids, count, take, take_payload, err);
}

/* A memory sandbox lives as long as this lock. */
static int mark_alive(struct al_staging *staging, struct al_error *err)
{
    al_auto(al_freep) char *name = NULL;

    al_random_hex(AL_STAGING_KEY_TEXT / 2, staging->key);
    *staging->key = MEMORY;
    name = al_asprintf("%s.alive", staging->key);
    staging->alive_fd = openat(staging->sandboxes_fd, name,
                               O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (staging->alive_fd < 0 || flock(staging->alive_fd, LOCK_EX | LOCK_NB) < 0)
        return al_staging_unusable(staging, errno, err);
    return 0;
}

bool al_staging_is_gone(const struct al_staging *staging, const char *key)
{
    al_auto(al_freep) char *alive = al_asprintf("%s.alive", key);

    return *key == MEMORY && !al_file_id_at(staging->sandboxes_fd, alive).exists;
}

static int adopt_sandbox(struct al_staging *staging, struct al_error *err)
{
    struct al_sandbox *sandbox = staging->options.sandbox;
    const char *dir = sandbox ? al_sandbox_dir(sandbox) : NULL;
    int r = 0;

    if (!sandbox)
        return 0;
    if (dir)
        al_staging_make_key("directory", dir, staging->key);
    else
        r = mark_alive(staging, err);
    if (r == 0)
        al_sandbox_set_source(sandbox, &(struct al_blob_source){ read_blobs, staging });
    if (r == 0 && dir && staging->options.recover)
        staging->options.recover(staging);
    return r;
}

/* --- Opening and closing --- */

static int open_store(struct al_staging *staging, struct al_run_limits *budget,
                      struct al_error *err)
{
    int r = open_top(staging, err);

    if (r == 0)
        r = al_staging_lock(staging, budget, err);
    if (r < 0)
        return r;
    r = open_parts(staging, err);
    if (r == 0)
        r = adopt_sandbox(staging, err);
    if (r == 0)
        r = al_staged_recover(staging, budget, err);
    al_staging_unlock(staging);
    return r;
}

static void init_mutexes(struct al_staging *staging)
{
    pthread_mutexattr_t recursive;

    (void)pthread_mutexattr_init(&recursive);
    (void)pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&staging->mutex, &recursive);
    (void)pthread_mutexattr_destroy(&recursive);
}

int al_staging_new(const struct al_staging_options *options, struct al_run_limits *budget,
                   struct al_staging **ret_staging, struct al_error *err)
{
    struct al_staging *staging = al_calloc(1, sizeof(*staging));
    al_auto(al_freep) char *parent = al_fs_join(options->state_dir, "staging");
    char id[AL_STAGING_KEY_TEXT];
    int r;

    al_staging_make_key(options->roots->items[0].path, options->sha256 ? "sha256" : "sha1", id);
    staging->options = *options;
    staging->dir = al_fs_join(parent, id);
    staging->dir_fd = staging->staged_fd = staging->sandboxes_fd = staging->pack_fd = -1;
    staging->lock_fd = staging->alive_fd = -1;
    staging->bare = (struct al_location){ .git = options->git, .dir_fd = -1 };
    init_mutexes(staging);
    r = open_store(staging, budget, err);
    if (r < 0) {
        al_staging_free(staging);
        return r;
    }
    *ret_staging = staging;
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

static int open_refs(const struct al_staging *staging, const char *dir)
{
    return openat(staging->bare.dir_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* Remove what belongs to a sandbox that is gone.  The lock is held.  Its base and its origins are
 * "refs/base/<key>" and "refs/base/<key>-<digits>". */
static void drop_sandbox(struct al_staging *staging, const char *key)
{
    const char *const names[] = { key, NULL };
    al_auto(al_closep) int refs_fd = open_refs(staging, "refs/base");

    if (refs_fd >= 0)
        remove_files(refs_fd, names, NULL);
    remove_files(staging->sandboxes_fd, names, NULL);
}

/* The base of a memory sandbox is of no use to anybody else.  Objects left after a failure are
 * garbage. */
static void drop_memory_base(struct al_staging *staging)
{
    struct al_run_limits budget = { .left_ms = DROP_TIMEOUT_MS };

    if (staging->alive_fd < 0 || al_staging_lock(staging, &budget, NULL) < 0)
        return;
    drop_sandbox(staging, staging->key);
    al_staging_unlock(staging);
}

void al_staging_free(struct al_staging *staging)
{
    if (!staging)
        return;
    drop_memory_base(staging);
    al_close(staging->alive_fd);
    al_close(staging->lock_fd);
    al_close(staging->pack_fd);
    al_location_clear(&staging->bare);
    al_close(staging->sandboxes_fd);
    al_close(staging->staged_fd);
    al_close(staging->dir_fd);
    (void)pthread_mutex_destroy(&staging->mutex);
    free(staging->dir);
    free(staging);
}

const struct al_staging_options *al_staging_options(const struct al_staging *staging)
{
    return &staging->options;
}

/* --- Clearing up --- */

/*
 * Clearing the store up.  It holds the lock, so no record is written meanwhile.
 *
 * References of staged commits go with their records, and those of memory sandboxes with their
 * processes.  Objects that nothing names stay for a day, because a push that waits for its approval
 * has some.
 */

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

/* --- Sandboxes in memory whose process is gone --- */

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
            drop_sandbox(staging, key);
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

/* Delete the references of a directory that nothing stands for. */
static int drop_refs(struct al_staging *staging, const char *dir, struct al_error *err)
{
    al_auto(al_closedirp) DIR *names = al_fs_list(open_refs(staging, dir));
    struct dirent *entry;
    int r = 0;

    while (names && r == 0 && (entry = readdir(names))) {
        al_auto(al_freep) char *ref = al_asprintf("%s/%s", dir, entry->d_name);

        if (entry->d_name[0] != '.' && !is_needed(staging, ref))
            r = al_staging_delete_ref(staging, ref, err);
    }
    return r;
}

/* --- Objects --- */

/* Delete objects that nothing names.  All packs are written anew for that, so it has to be worth
 * it; and it is not tried again at once if it failed. */
static int expire(struct al_staging *staging, const char *expiry, struct al_run_limits *budget,
                  struct al_error *err)
{
    const struct al_location bare = al_staging_bare(staging, budget);
    const uint64_t settled = settled_bytes(staging);
    struct packs packs;
    int r = measure(staging, &packs, err);

    if (r == 0 && packs.bytes > settled + staging->options.max_bytes) {
        r = al_bare_expire(&bare, expiry, err);
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
    r = drop_refs(staging, "refs/staged", err);
    if (r == 0)
        r = drop_refs(staging, "refs/base", err);
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
    const struct al_location bare = al_staging_bare(staging, budget);
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
        r = al_bare_tidy(&bare, false, err);
    al_staging_unlock(staging);
    return r;
}
