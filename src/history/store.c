// SPDX-License-Identifier: Apache-2.0
#include "history/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gitops/plumbing/bare.h"
#include "gitops/plumbing/snapshot.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"
#include "history/files.h"
#include "util/fs.h"

#define PACKED_MAX_BYTES (64u << 20)
#define LOCK_POLL_MS     10
#define DIR_FLAGS        (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
#define SYNCED           "synced"
#define STAGED           "staged"
#define TIPS             "tips"

int al_store_unusable(const struct al_store *store, int errno_value, struct al_error *err)
{
    return al_error_errno(err, errno_value, "cannot use the checkpoint store '%s'", store->dir);
}

int64_t al_store_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The name of the store's folder.  It includes the object format, so that a repository that is
 * created again with another format gets another store. */
static char *id_of(const struct al_repo *repo)
{
    static const char format[] = "sha256";
    struct al_hash hash;
    struct al_oid digest;
    char text[AL_OID_TEXT];

    al_hash_init(&hash, true);
    al_hash_add(&hash, repo->at.git_dir, strlen(repo->at.git_dir) + 1);
    if (repo->vetting->is_sha256)
        al_hash_add(&hash, format, sizeof(format));
    al_hash_end(&hash, &digest);
    al_oid_text(&digest, true, text);
    return al_strndup(text, AL_STORE_ID_DIGITS);
}

/* Wait for the shared lock.  A clean-up holds the lock exclusively. */
static int lock_shared(struct al_store *store, struct al_deadline *deadline, struct al_error *err)
{
    while (flock(store->lock_fd, LOCK_SH | LOCK_NB) < 0) {
        int r;

        if (errno != EWOULDBLOCK && errno != EINTR)
            return al_store_unusable(store, errno, err);
        r = al_deadline_check(deadline, err);
        if (r < 0)
            return r;
        (void)poll(NULL, 0, LOCK_POLL_MS);
    }
    return 0;
}

/* flock(2) may have released this lock when an exclusive one was asked for.  An exclusive lock is
 * not held for long.  The store was locked before, so this file system has locks. */
void al_store_lock_shared(const struct al_store *store)
{
    while (flock(store->lock_fd, LOCK_SH) < 0 && errno == EINTR)
        continue;
}

bool al_store_lock_alone(const struct al_store *store)
{
    if (flock(store->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    al_store_lock_shared(store);
    return false;
}

/* --- Creating it --- */

static int no_store(struct al_error *err)
{
    return al_error_set(err, AL_ERR_NOT_FOUND, "there are no checkpoints");
}

static int open_dirs(struct al_store *store, bool create, struct al_error *err)
{
    int r = create ? al_fs_mkdirs(store->path, 0700) : 0;

    if (r < 0)
        return al_store_unusable(store, -r, err);
    store->dir_fd = open(store->dir, DIR_FLAGS);
    if (store->dir_fd < 0)
        return errno == ENOENT ? no_store(err) : al_store_unusable(store, errno, err);
    store->lock_fd = openat(store->dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return store->lock_fd < 0 ? al_store_unusable(store, errno, err) : 0;
}

static int open_bare(struct al_store *store, struct al_error *err)
{
    static const char *const refs[] = { "refs/before", "refs/new", "refs/after", "refs/last",
                                        NULL };
    int r;

    store->bare.dir_fd = open(store->path, DIR_FLAGS);
    if (store->bare.dir_fd < 0)
        return errno == ENOENT ? no_store(err) : al_store_unusable(store, errno, err);
    r = al_bare_init(store->bare.dir_fd, store->sha256, refs, "", AL_SNAPSHOT_ATTRIBUTES);
    if (r < 0)
        return al_store_unusable(store, -r, err);
    store->pack_fd = openat(store->bare.dir_fd, "objects/pack", DIR_FLAGS);
    return store->pack_fd < 0 ? al_store_unusable(store, errno, err) : 0;
}

/* --- After a power failure --- */

#define BOOT         "boot"
#define BOOT_ID      "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_SIZE 64u

/* Remove what is newer than the last time that everything was on the disk: it may be torn. */
static void remove_newer(int dir_fd, const char *name, int64_t synced_ns)
{
    al_auto(al_closep) int fd = openat(dir_fd, name, DIR_FLAGS);
    al_auto(al_closedirp) DIR *dir = fd < 0 ? NULL : al_fs_list_at(fd);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        const struct al_file_id id = al_file_id_at(fd, entry->d_name);

        if (entry->d_name[0] != '.' && id.exists && id.mtime_ns > synced_ns)
            (void)unlinkat(fd, entry->d_name, 0);
    }
}

/* A checkpoint before an operation was synchronised, and everything before it.  What came after it
 * is at most the checkpoint after the last operation. */
static void recover(const struct al_store *store)
{
    static const char *const dirs[] = { "objects/pack", "refs/before", "refs/after", "refs/new" };
    const struct al_file_id synced = al_file_id_at(store->dir_fd, SYNCED);

    for (size_t i = 0; i < AL_COUNT(dirs); i++)
        remove_newer(store->bare.dir_fd, dirs[i], synced.exists ? synced.mtime_ns : 0);
    al_files_forget(store);
    (void)unlinkat(store->dir_fd, STAGED, 0);
    (void)unlinkat(store->dir_fd, TIPS, 0);
}

/* Whether this is the first use of the store since the machine began to run. */
static bool is_other_boot(const struct al_store *store, struct al_str *ret_now)
{
    al_auto(al_str_clear) struct al_str then = AL_STR_INIT;
    al_auto(al_closep) int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
    char text[BOOT_ID_SIZE];
    const ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));

    if (len <= 0)
        return false;
    al_str_add(ret_now, text, (size_t)len);
    return al_fs_read(store->dir_fd, BOOT, BOOT_ID_SIZE, &then) < 0 || then.len != ret_now->len ||
           memcmp(then.buf, ret_now->buf, then.len) != 0;
}

static int check_boot(const struct al_store *store, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str now = AL_STR_INIT;
    const bool is_new = !al_file_id_at(store->dir_fd, BOOT).exists;
    int r;

    if (!is_other_boot(store, &now))
        return 0;
    if (!is_new && !al_store_lock_alone(store))
        return 0; /* who has the store open has recovered it, or the next one does */
    if (!is_new)
        recover(store);
    r = al_fs_write_durable(store->dir_fd, BOOT, now.buf, now.len, 0600);
    al_store_lock_shared(store);
    return r < 0 ? al_store_unusable(store, -r, err) : 0;
}

int al_store_open(const struct al_checkpoint_settings *settings, struct al_repo *repo, bool create,
                  struct al_run_limits *budget, struct al_store **ret_store, struct al_error *err)
{
    struct al_store *store = al_calloc(1, sizeof(*store));
    struct al_deadline deadline = al_deadline_begin(budget);
    al_auto(al_freep) char *id = id_of(repo);
    int r;

    store->settings = settings;
    store->repo = repo;
    store->sha256 = repo->vetting->is_sha256;
    store->dir = al_fs_join(settings->state_dir, id);
    store->path = al_fs_join(store->dir, "checkpoints.git");
    store->dir_fd = store->lock_fd = store->pack_fd = -1;
    store->bare = (struct al_bare){ .git = repo->at.git,
                                    .lender = &repo->at,
                                    .dir_fd = -1,
                                    .path = store->path,
                                    .reads_borrowed = true };
    r = open_dirs(store, create, err);
    if (r == 0)
        r = lock_shared(store, &deadline, err);
    if (r == 0)
        r = open_bare(store, err);
    if (r == 0)
        r = check_boot(store, err);
    al_deadline_sync(&deadline);
    if (r < 0) {
        al_store_close(store);
        return r;
    }
    /* For users who delete old stores: when this one was used last. */
    (void)futimens(store->lock_fd, NULL);
    *ret_store = store;
    return 0;
}

void al_store_close(struct al_store *store)
{
    if (!store)
        return;
    al_refs_clear(&store->refs);
    al_checkpoints_unload(store);
    al_strv_clear(&store->nested);
    al_close(store->lock_fd);
    al_close(store->pack_fd);
    al_close(store->bare.dir_fd);
    al_close(store->dir_fd);
    free(store->path);
    free(store->dir);
    free(store);
}

/* --- Its references --- */

/* Find a line `<oid> SP <name>` in packed-refs. */
static bool find_packed(const struct al_store *store, const char *name, struct al_oid *ret_oid)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *needle = al_asprintf(" %s\n", name);
    size_t digits = 2 * al_oid_bytes(store->sha256);
    const char *at;

    if (al_fs_read(store->bare.dir_fd, "packed-refs", PACKED_MAX_BYTES, &text) < 0)
        return false;
    at = strstr(text.buf, needle);
    return at && (size_t)(at - text.buf) >= digits &&
           al_oid_parse(at - digits, store->sha256, ret_oid);
}

int al_store_no_checkpoint(struct al_error *err)
{
    return al_error_set(err, AL_ERR_NOT_FOUND, "there is no such checkpoint");
}

int al_store_read_ref(struct al_store *store, const char *name, struct al_oid *ret_oid,
                      struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (al_fs_read(store->bare.dir_fd, name, 256, &text) == 0 &&
        al_oid_parse(text.buf, store->sha256, ret_oid))
        return 0;
    return find_packed(store, name, ret_oid) ? 0 : al_store_no_checkpoint(err);
}

/* git removes directories of references that became empty. */
static int make_dir_of(const struct al_store *store, const char *name, struct al_error *err)
{
    al_auto(al_freep) char *dir = al_strndup(name, (size_t)(strrchr(name, '/') - name));

    return mkdirat(store->bare.dir_fd, dir, 0700) < 0 && errno != EEXIST
               ? al_store_unusable(store, errno, err)
               : 0;
}

int al_store_rename_ref(const struct al_store *store, const char *from, const char *to,
                        struct al_error *err)
{
    int r = make_dir_of(store, to, err);

    if (r == 0 && renameat(store->bare.dir_fd, from, store->bare.dir_fd, to) < 0)
        r = al_store_unusable(store, errno, err);
    return r;
}

int al_store_write_ref(const struct al_store *store, const char *name, const struct al_oid *oid,
                       struct al_error *err)
{
    char text[AL_OID_TEXT + 1];
    size_t len;
    int r = make_dir_of(store, name, err);

    if (r < 0)
        return r;
    al_oid_text(oid, store->sha256, text);
    len = strlen(text);
    text[len] = '\n';
    r = al_fs_write_atomic(store->bare.dir_fd, name, text, len + 1, 0600, true);
    return r < 0 ? al_store_unusable(store, -r, err) : 0;
}

static int sync_file(const struct al_store *store, int dir_fd, const char *name,
                     struct al_error *err)
{
    al_auto(al_closep) int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int r = fd < 0 ? -errno : al_fs_sync(fd);

    return r < 0 && r != -ENOENT ? al_store_unusable(store, -r, err) : 0;
}

/* Synchronise the packs that are newer than the last time. */
static int sync_packs(const struct al_store *store, struct al_error *err)
{
    struct al_file_id last = al_file_id_at(store->dir_fd, SYNCED);
    const struct timespec now[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_nsec = UTIME_NOW } };
    al_auto(al_closep) int mark =
        openat(store->dir_fd, SYNCED ".new", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(store->pack_fd);
    struct dirent *entry;
    int r = 0;

    if (!dir || mark < 0 || futimens(mark, now) < 0) /* what comes after this is looked at again */
        return al_store_unusable(store, errno, err);
    while (r == 0 && (entry = readdir(dir))) {
        struct al_file_id id;

        if (!al_starts_with(entry->d_name, "pack-"))
            continue;
        id = al_file_id_at(store->pack_fd, entry->d_name);
        if (id.exists && (!last.exists || id.mtime_ns >= last.mtime_ns - 1000000000))
            r = sync_file(store, store->pack_fd, entry->d_name, err);
    }
    if (r == 0 && al_fs_sync(store->pack_fd) < 0)
        r = al_store_unusable(store, errno, err);
    if (r == 0 && renameat(store->dir_fd, SYNCED ".new", store->dir_fd, SYNCED) < 0)
        r = al_store_unusable(store, errno, err);
    return r;
}

int al_store_sync(const struct al_store *store, const char *reference, struct al_error *err)
{
    int r = sync_packs(store, err);

    return r < 0 ? r : sync_file(store, store->bare.dir_fd, reference, err);
}

int al_store_sync_dir(const struct al_store *store, const char *dir, struct al_error *err)
{
    return sync_file(store, store->bare.dir_fd, dir, err);
}

bool al_store_parse_id(const struct al_store *store, const char *id, struct al_oid *ret_oid)
{
    return strlen(id) == 2 * al_oid_bytes(store->sha256) &&
           al_oid_parse(id, store->sha256, ret_oid);
}

bool al_checkpoint_exists(struct al_store *store, const char *id)
{
    al_auto(al_freep) char *before = al_asprintf(AL_REF_BEFORE "%s", id);
    struct al_oid oid;

    return al_store_parse_id(store, id, &oid) && al_store_read_ref(store, before, &oid, NULL) == 0;
}

int al_checkpoint_find_after(struct al_store *store, const char *before, char ret_id[AL_OID_TEXT],
                             struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf(AL_REF_AFTER "%s", before);
    struct al_oid oid;
    int r;

    if (!al_store_parse_id(store, before, &oid))
        return al_store_no_checkpoint(err);
    r = al_store_read_ref(store, name, &oid, err);
    if (r == 0)
        al_oid_text(&oid, store->sha256, ret_id);
    return r;
}
