// SPDX-License-Identifier: Apache-2.0
#include "staging/store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/run.h"
#include "util/fs.h"

#define LOCK_POLL_MS     10
#define PACKED_MAX_BYTES (64u << 20)
#define JSON_MAX_BYTES   (64u << 20)

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

/* Find a line `<oid> SP <name>` in packed-refs. */
static bool find_packed(const struct al_staging *staging, const char *name, struct al_oid *ret_oid)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *needle = al_asprintf(" %s\n", name);
    size_t digits = 2 * al_oid_bytes(staging->options.sha256);
    const char *at;

    if (al_fs_read(staging->bare.dir_fd, "packed-refs", PACKED_MAX_BYTES, &text) < 0)
        return false;
    at = strstr(text.buf, needle);
    return at && (size_t)(at - text.buf) >= digits &&
           al_oid_parse(at - digits, staging->options.sha256, ret_oid);
}

int al_staging_read_ref(const struct al_staging *staging, const char *name, struct al_oid *ret_oid,
                        struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (al_fs_read(staging->bare.dir_fd, name, 256, &text) == 0 &&
        al_oid_parse(text.buf, staging->options.sha256, ret_oid))
        return 0;
    if (find_packed(staging, name, ret_oid))
        return 0;
    return al_error_set(err, AL_ERR_NOT_FOUND, "the staging store has no '%s'", name);
}

int al_staging_delete_ref(struct al_staging *staging, const char *name,
                          struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *dir = al_strndup(name, (size_t)(strrchr(name, '/') - name));
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct al_oid oid;
    int r;

    if (find_packed(staging, name, &oid)) {
        al_strv_add(&names, name);
        r = al_bare_delete_refs(&staging->bare, &names, budget, err);
    } else {
        r = unlinkat(staging->bare.dir_fd, name, 0) < 0 && errno != ENOENT
                ? al_staging_unusable(staging, errno, err)
                : 0;
    }
    return r < 0 ? r : al_staging_sync(staging, dir, err);
}

int al_staging_sync(const struct al_staging *staging, const char *dir, struct al_error *err)
{
    al_auto(al_closep) int fd =
        openat(staging->bare.dir_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const int r = fd < 0 ? -errno : al_fs_sync(fd);

    /* git removes directories of references that became empty. */
    return r < 0 && r != -ENOENT ? al_staging_unusable(staging, -r, err) : 0;
}

int al_staging_damaged(const struct al_staging *staging, const char *name, struct al_error *err)
{
    int r = al_error_set(err, AL_ERR_EXECUTION, "the staging store '%s' is damaged: '%s'",
                         staging->dir, name);

    if (err)
        err->reason = AL_STAGING_DAMAGED;
    return r;
}

int al_staging_read_json(const struct al_staging *staging, int dir_fd, const char *name,
                         json_t **ret_object, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_fs_read(dir_fd, name, JSON_MAX_BYTES, &text);
    al_auto(al_json_decrefp) json_t *object = NULL;

    if (r == -ENOENT)
        return al_error_set(err, AL_ERR_NOT_FOUND, "the staging store has no '%s'", name);
    if (r < 0)
        return al_staging_unusable(staging, -r, err);
    object = json_loadb(text.buf, text.len, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(object))
        return al_staging_damaged(staging, name, err);
    *ret_object = al_take(&object);
    return 0;
}

int al_staging_write_json(const struct al_staging *staging, int dir_fd, const char *name,
                          const json_t *object, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    al_json_dump(object, true, &text);
    al_str_addc(&text, '\n');
    if (text.len > JSON_MAX_BYTES) /* it could not be read again */
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the names are too long to be recorded; stage fewer files at a time");
    r = al_fs_write_durable(dir_fd, name, text.buf, text.len, 0600);
    return r < 0 ? al_staging_unusable(staging, -r, err) : 0;
}

int al_staging_remove_json(const struct al_staging *staging, int dir_fd, const char *name,
                           struct al_error *err)
{
    int r;

    if (unlinkat(dir_fd, name, 0) < 0)
        return errno == ENOENT ? 0 : al_staging_unusable(staging, errno, err);
    r = al_fs_sync(dir_fd);
    return r < 0 ? al_staging_unusable(staging, -r, err) : 0;
}
