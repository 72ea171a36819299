// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/memo.h"
#include "checkpoint/recent.h"
#include "checkpoint/recent_known.h"
#include "gitops/deadline.h"
#include "gitops/plumbing/bare.h"
#include "gitops/vet/vet.h"
#include "odb/init.h"
#include "odb/pack_index.h"
#include "util/fs.h"

#define PACKED_MAX_BYTES (64u << 20)
#define LOCK_POLL_MS     10

const char *const al_store_ref_dirs[2] = { "refs/before", "refs/after" };

static int unusable(const struct al_store *store, int errno_value, struct al_error *err)
{
    return al_error_errno(err, errno_value, "cannot use the checkpoint store '%s'", store->dir);
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

/* Wait for the shared lock.  A gc holds the lock exclusively. */
static int lock_shared(struct al_store *store, struct al_deadline *deadline, struct al_error *err)
{
    while (flock(store->lock_fd, LOCK_SH | LOCK_NB) < 0) {
        int r;

        if (errno != EWOULDBLOCK && errno != EINTR)
            return unusable(store, errno, err);
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

static int make_dir(const struct al_store *store, int dir_fd, const char *name,
                    struct al_error *err)
{
    return mkdirat(dir_fd, name, 0700) < 0 && errno != EEXIST ? unusable(store, errno, err) : 0;
}

/* Create the bare repository.  Processes that do so at the same time create the same one. */
static int make_bare(const struct al_store *store, struct al_error *err)
{
    static const char *const dirs[] = { "refs/before", "refs/after", NULL };
    int r = al_odb_init(store->bare.dir_fd, store->sha256, dirs);

    return r < 0 ? unusable(store, -r, err) : 0;
}

static int open_dirs(struct al_store *store, bool create, struct al_error *err)
{
    static const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
    int r = 0;

    store->dir_fd = open(store->dir, flags);
    if (store->dir_fd < 0 && errno == ENOENT && create) {
        r = al_fs_mkdirs(store->dir, 0700);
        if (r < 0)
            return unusable(store, -r, err);
        store->dir_fd = open(store->dir, flags);
    }
    if (store->dir_fd < 0)
        return errno == ENOENT && !create
                   ? al_error_set(err, AL_ERR_NOT_FOUND, "there are no checkpoints")
                   : unusable(store, errno, err);
    store->lock_fd = openat(store->dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return store->lock_fd < 0 ? unusable(store, errno, err) : 0;
}

static int open_bare(struct al_store *store, bool create, struct al_error *err)
{
    struct al_bare *bare = &store->bare;
    int r = create ? make_dir(store, store->dir_fd, "checkpoints.git", err) : 0;

    if (r < 0)
        return r;
    bare->dir_fd =
        openat(store->dir_fd, "checkpoints.git", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (bare->dir_fd < 0)
        return errno == ENOENT && !create
                   ? al_error_set(err, AL_ERR_NOT_FOUND, "there are no checkpoints")
                   : unusable(store, errno, err);
    r = make_bare(store, err);
    if (r < 0)
        return r;
    store->pack_fd =
        openat(bare->dir_fd, "objects/pack", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return store->pack_fd < 0 ? unusable(store, errno, err) : 0;
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
    store->size_mtim.tv_nsec = -1;
    store->dir_fd = store->lock_fd = store->pack_fd = store->recent.fd = -1;
    store->bare = (struct al_bare){ .git = repo->at.git, .lender = &repo->at, .dir_fd = -1 };
    r = open_dirs(store, create, err);
    if (r == 0)
        r = lock_shared(store, &deadline, err);
    if (r == 0)
        r = open_bare(store, create, err);
    if (r == 0)
        r = al_recent_open(store, create, &deadline, err);
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
    al_memo_free(store->memo);
    al_packs_free(store->packs);
    al_recent_clear(&store->recent);
    al_close(store->recent.fd);
    al_close(store->lock_fd);
    al_close(store->pack_fd);
    al_close(store->bare.dir_fd);
    al_close(store->dir_fd);
    free(store->dir);
    free(store);
}

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

int al_store_git(struct al_store *store, const struct al_bare **ret_bare, struct al_error *err)
{
    *ret_bare = &store->bare;
    return al_recent_publish(store, err);
}

bool al_store_has_object(void *payload, const struct al_oid *oid)
{
    struct al_store *store = payload;

    if (!store->recent.end)
        al_recent_look(store);
    if (store->recent.objects && al_packs_have(store->recent.objects, oid))
        return true;
    if (!store->packs &&
        al_packs_open_unkept(store->pack_fd, store->sha256, &store->packs, NULL) < 0)
        return false;
    return al_packs_have(store->packs, oid);
}

void al_store_look_again(struct al_store *store)
{
    al_packs_free(store->packs);
    store->packs = NULL;
    store->size_mtim.tv_nsec = -1;
}

/* The file `recent2` is read first: what leaves it is in the other files before. */
int al_store_read_ref(struct al_store *store, const char *name, struct al_oid *ret_oid,
                      struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const struct al_oid *found;

    al_recent_look(store);
    found = al_recent_find_ref(&store->recent, name);
    if (found) {
        *ret_oid = *found;
        return 0;
    }
    if (al_fs_read(store->bare.dir_fd, name, 256, &text) == 0 &&
        al_oid_parse(text.buf, store->sha256, ret_oid))
        return 0;
    if (find_packed(store, name, ret_oid))
        return 0;
    return al_store_no_checkpoint(err);
}

bool al_store_has_ref(struct al_store *store, const char *name)
{
    struct al_oid oid;

    return al_store_read_ref(store, name, &oid, NULL) == 0;
}

int al_store_write_ref(const struct al_store *store, const char *name, const struct al_oid *oid,
                       bool durable, struct al_error *err)
{
    const char *slash = strrchr(name, '/');
    al_auto(al_freep) char *dir = al_strndup(name, (size_t)(slash - name));
    al_auto(al_closep) int dir_fd =
        openat(store->bare.dir_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    char text[AL_OID_TEXT + 1];
    int r;

    if (dir_fd < 0 && errno == ENOENT) { /* git removes directories that became empty */
        r = make_dir(store, store->bare.dir_fd, dir, err);
        if (r < 0)
            return r;
        dir_fd = openat(store->bare.dir_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    }
    if (dir_fd < 0)
        return unusable(store, errno, err);
    al_oid_text(oid, store->sha256, text);
    r = (int)strlen(text);
    text[r] = '\n';
    r = durable ? al_fs_write_durable(dir_fd, slash + 1, text, (size_t)r + 1, 0600)
                : al_fs_write_atomic(dir_fd, slash + 1, text, (size_t)r + 1, 0600, true);
    return r < 0 ? unusable(store, -r, err) : 0;
}

int al_store_sync_refs(const struct al_store *store, struct al_error *err)
{
    for (size_t i = 0; i < AL_COUNT(al_store_ref_dirs); i++) {
        al_auto(al_closep) int fd =
            openat(store->bare.dir_fd, al_store_ref_dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r = fd < 0 ? 0 : al_fs_sync(fd);

        if (r < 0)
            return unusable(store, -r, err);
    }
    return 0;
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

    return al_store_parse_id(store, id, &oid) && al_store_has_ref(store, before);
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
