// SPDX-License-Identifier: Apache-2.0
#include "staging/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/plumbing/bare.h"
#include "guard/root.h"
#include "sandbox/sandbox.h"
#include "staging/staged_record.h"
#include "staging/store.h"
#include "util/fs.h"

#define KEY_DIGITS      32
#define MEMORY          'm'   /* begins the key of a sandbox in memory; all others are digits */
#define READ_TIMEOUT_MS 60000 /* for files that the sandbox reads from the store */
#define DROP_TIMEOUT_MS 1000  /* for the lock at the end of a session */

/* The first digits of a hash of two strings. */
static void make_key(const char *first, const char *second, char ret_key[KEY_DIGITS + 1])
{
    struct al_hash hash;
    struct al_oid digest;
    char text[AL_OID_TEXT];

    al_hash_init(&hash, true);
    al_hash_add(&hash, first, strlen(first) + 1);
    al_hash_add(&hash, second, strlen(second) + 1);
    al_hash_end(&hash, &digest);
    al_oid_text(&digest, true, text);
    (void)snprintf(ret_key, KEY_DIGITS + 1, "%.*s", KEY_DIGITS, text);
}

static int make_random_key(char ret_key[KEY_DIGITS + 1], struct al_error *err)
{
    unsigned char bytes[KEY_DIGITS / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return al_error_errno(err, errno, "cannot get random numbers");
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void)snprintf(ret_key + 2 * i, 3, "%02x", bytes[i]);
    *ret_key = MEMORY;
    return 0;
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
    struct al_bare *bare = &staging->bare;
    int r = open_dir(staging, staging->dir_fd, "staged", &staging->staged_fd, err);

    if (r == 0)
        r = open_dir(staging, staging->dir_fd, "sandboxes", &staging->sandboxes_fd, err);
    if (r == 0)
        r = open_dir(staging, staging->dir_fd, "store.git", &bare->dir_fd, err);
    if (r < 0)
        return r;
    r = al_bare_init(bare->dir_fd, staging->options.sha256, refs,
                     "[core]\n\tbigFileThreshold = 4m\n", NULL);
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

    return al_bare_read(&staging->bare, oids, count, take, take_payload, &budget, err);
}

/* A memory sandbox lives as long as this lock. */
static int mark_alive(struct al_staging *staging, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.alive", staging->key);

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
        make_key("directory", dir, staging->key);
    else
        r = make_random_key(staging->key, err);
    if (r == 0 && !dir)
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
    char id[KEY_DIGITS + 1];
    int r;

    make_key(options->roots->items[0].path, options->sha256 ? "sha256" : "sha1", id);
    staging->options = *options;
    staging->dir = al_fs_join(parent, id);
    staging->dir_fd = staging->staged_fd = staging->sandboxes_fd = staging->pack_fd = -1;
    staging->lock_fd = staging->alive_fd = -1;
    staging->bare = (struct al_bare){ .git = options->git, .dir_fd = -1 };
    init_mutexes(staging);
    r = open_store(staging, budget, err);
    if (r < 0) {
        al_staging_free(staging);
        return r;
    }
    *ret_staging = staging;
    return 0;
}

/* The base of a memory sandbox is of no use to anybody else.  What is left after a failure is
 * garbage. */
static void drop_memory_base(struct al_staging *staging)
{
    struct al_run_limits budget = { .left_ms = DROP_TIMEOUT_MS };

    if (staging->alive_fd < 0 || al_staging_lock(staging, &budget, NULL) < 0)
        return;
    al_staging_drop_sandbox(staging, staging->key);
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
    al_close(staging->bare.dir_fd);
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

bool al_staging_is_sha256(const struct al_staging *staging)
{
    return staging->options.sha256;
}
