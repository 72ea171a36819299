// SPDX-License-Identifier: Apache-2.0
#include "history/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>

#include "base/fs.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/snapshot.h"
#include "git/plumbing/stash_owners.h"
#include "git/refs.h"
#include "git/run.h"
#include "git/vet/vet.h"

#define LOCK_POLL_MS 10
#define DIR_FLAGS    (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

int al_store_unusable(const struct al_store *store, int errno_value, struct al_error *err)
{
    return al_error_errno(err, errno_value, "cannot use the checkpoint store '%s'", store->dir);
}

/* The name of the store's folder.  It includes the object format, so that a repository that is
 * created again with another format gets another store. */
static char *id_of(const struct al_repo *repo)
{
    static const char format[] = "sha256";
    struct al_hash hash;
    char text[AL_OID_TEXT];

    al_hash_init(&hash, true);
    al_hash_add(&hash, repo->at.git_dir, strlen(repo->at.git_dir) + 1);
    if (repo->vetting->is_sha256)
        al_hash_add(&hash, format, sizeof(format));
    al_hash_text(&hash, text);
    return al_strndup(text, AL_STORE_ID_DIGITS);
}

char *al_store_repository(const struct al_store *store)
{
    al_auto(al_freep) char *path = al_fs_join(store->repo->at.common_dir, "description");
    al_auto(al_freep) char *owner = al_stash_owner_id(store->repo->at.common_dir);
    const struct al_file_id made = al_file_id_at(AT_FDCWD, path);

    return al_asprintf("%" PRIx64 "/%s", made.exists ? (uint64_t)made.mtime_ns : 0,
                       owner ? owner : "");
}

bool al_store_is_repository(const char *saved, const char *is)
{
    const char *owner = strchr(saved, '/'), *is_owner = strchr(is, '/');

    return !owner || !is_owner || !strcmp(owner, is_owner) ||
           (owner - saved == is_owner - is && !strncmp(saved, is, (size_t)(owner - saved)));
}

int al_store_wait(const struct al_store *store, int fd, int how, struct al_run_limits *budget,
                  struct al_error *err)
{
    struct al_deadline deadline = al_deadline_begin(budget);
    int r = 0;

    while (r == 0 && flock(fd, how | LOCK_NB) < 0) {
        r = errno != EWOULDBLOCK && errno != EINTR ? al_store_unusable(store, errno, err)
                                                   : al_deadline_check(&deadline, err);
        (void)poll(NULL, 0, LOCK_POLL_MS);
    }
    al_deadline_sync(&deadline);
    return r;
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
    r = al_bare_open(&store->bare, store->sha256, refs, "", AL_SNAPSHOT_ATTRIBUTES);
    if (r < 0)
        return al_store_unusable(store, -r, err);
    store->pack_fd = openat(store->bare.dir_fd, "objects/pack", DIR_FLAGS);
    return store->pack_fd < 0 ? al_store_unusable(store, errno, err) : 0;
}

int al_store_open(const struct al_checkpoint_settings *settings, struct al_repo *repo, bool create,
                  struct al_store **ret_store, struct al_error *err)
{
    struct al_store *store = al_calloc(1, sizeof(*store));
    al_auto(al_freep) char *id = id_of(repo);
    int r;

    store->import = AL_BESIDE_INIT;
    store->settings = settings;
    store->repo = repo;
    store->sha256 = repo->vetting->is_sha256;
    store->dir = al_fs_join(settings->state_dir, id);
    store->path = al_fs_join(store->dir, "checkpoints.git");
    store->dir_fd = store->lock_fd = store->pack_fd = -1;
    store->refs = AL_STR_INIT;
    store->bare = (struct al_location){
        .git = repo->at.git, .lender = &repo->at, .dir_fd = -1, .budget = repo->at.budget
    };
    r = open_dirs(store, create, err);
    if (r == 0)
        r = al_store_wait(store, store->lock_fd, LOCK_SH, repo->at.budget, err);
    if (r == 0)
        r = open_bare(store, err);
    if (r < 0) {
        al_store_close(store);
        return r;
    }
    /* The last use of this store, for users who delete old ones. */
    (void)futimens(store->lock_fd, NULL);
    *ret_store = store;
    return 0;
}

void al_store_close(struct al_store *store)
{
    if (!store)
        return;
    al_beside_clear(&store->import);
    al_checkpoints_unload(store, 0);
    al_strv_clear(&store->nested);
    al_strv_clear(&store->inlined);
    al_oid_set_clear(&store->blobs);
    al_str_clear(&store->refs);
    al_close(store->lock_fd);
    al_close(store->pack_fd);
    al_location_clear(&store->bare);
    al_close(store->dir_fd);
    free(store->path);
    free(store->dir);
    free(store);
}

/* --- Its references --- */

int al_store_no_checkpoint(struct al_error *err)
{
    return al_error_set(err, AL_ERR_NOT_FOUND, "there is no such checkpoint");
}

bool al_store_take_id(const struct al_store *store, const char *text, char ret_id[AL_OID_TEXT])
{
    struct al_oid oid;

    if (!al_oid_parse(text, store->sha256, &oid))
        return false;
    al_oid_text(&oid, store->sha256, ret_id);
    return true;
}

bool al_store_is_id(const struct al_store *store, const char *id)
{
    const size_t len = strlen(id);

    return len == 2 * al_oid_bytes(store->sha256) && al_is_oid(id, len);
}

int al_store_read_ref(const struct al_store *store, const char *name, char ret_oid[AL_OID_TEXT],
                      struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *packed = NULL;

    if (al_fs_read(store->bare.dir_fd, name, 256, &text) == 0 &&
        al_store_take_id(store, text.buf, ret_oid))
        return 0;
    packed = al_ref_packed(store->path, name);
    return packed && al_store_take_id(store, packed, ret_oid) ? 0 : al_store_no_checkpoint(err);
}

int al_store_sync_dir(const struct al_store *store, const char *dir, struct al_error *err)
{
    al_auto(al_closep) int fd = openat(store->bare.dir_fd, dir, DIR_FLAGS);
    const int r = fd < 0 ? -errno : al_fs_sync(fd);

    return r < 0 ? al_store_unusable(store, -r, err) : 0;
}

int al_store_name(const struct al_store *store, const char *from, const char *dir, const char *name,
                  struct al_error *err)
{
    al_auto(al_freep) char *to = al_asprintf("%s%s", dir, name);
    const bool is_after = !strcmp(dir, AL_REF_AFTER);
    const int dir_fd = store->bare.dir_fd;
    int r = al_store_sync_dir(store, "objects/pack", err);

    if (r == 0 && !is_after)
        r = al_store_sync_dir(store, AL_REF_AFTER, err);
    if (r == 0 && renameat(dir_fd, from, dir_fd, to) < 0)
        r = al_store_unusable(store, errno, err);
    return r < 0 || is_after ? r : al_store_sync_dir(store, dir, err);
}

bool al_checkpoint_exists(struct al_store *store, const char *id)
{
    al_auto(al_freep) char *before = al_asprintf(AL_REF_BEFORE "%s", id);
    char oid[AL_OID_TEXT];

    return al_store_is_id(store, id) && al_store_read_ref(store, before, oid, NULL) == 0;
}

int al_checkpoint_find_after(struct al_store *store, const char *before, char ret_id[AL_OID_TEXT],
                             struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf(AL_REF_AFTER "%s", before);

    return al_store_is_id(store, before) ? al_store_read_ref(store, name, ret_id, err)
                                         : al_store_no_checkpoint(err);
}
