// SPDX-License-Identifier: Apache-2.0
/* Files in a directory.  A file is replaced by a rename, so that a reader sees the old bytes or the
 * new ones, and a hard link elsewhere keeps the old ones. */
#include "sandbox/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "guard/gitdir.h"
#include "guard/nofollow.h"

static void directory_free(void *state)
{
    struct al_directory *directory = state;

    al_scan_clear(&directory->seen);
    al_close(directory->fd);
    free(directory);
}

int al_directory_is_special(const char *path, struct al_error *err)
{
    return al_sandbox_fail(err, AL_ERR_EXECUTION, path, "",
                           " is no regular file but a fifo, a socket or a device");
}

int al_directory_is_made(const char *path, struct al_error *err)
{
    return al_sandbox_fail(err, AL_ERR_EXECUTION, path, "",
                           " was created meanwhile by somebody else; try again");
}

int al_directory_fail(int errno_value, const char *path, struct al_error *err)
{
    al_auto(al_freep) char *after = NULL;

    switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
        return al_sandbox_missing(path, err);
    case ELOOP:
        return al_sandbox_is_link(path, err);
    case ENXIO:
        return al_directory_is_special(path, err);
    default:
        after = al_asprintf(" cannot be used: %s", strerrordesc_np(errno_value));
        return al_sandbox_fail(err, AL_ERR_EXECUTION, path, "", after);
    }
}

int al_directory_write_fail(int errno_value, const char *path, struct al_error *err)
{
    if (errno_value == ENOTDIR)
        return al_sandbox_fail(err, AL_ERR_EXECUTION, path, "",
                               " cannot be: a part of it is a file and no directory");
    if (errno_value != ENOENT)
        return al_directory_fail(errno_value, path, err);
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the directory of the sandbox was removed; restart airlock");
}

/* Only regular files are read and replaced. */
static int check_type(mode_t mode, const char *path, struct al_error *err)
{
    if (S_ISREG(mode))
        return 0;
    if (S_ISDIR(mode))
        return al_sandbox_is_directory(path, err);
    if (S_ISLNK(mode))
        return al_sandbox_is_link(path, err);
    return al_directory_is_special(path, err);
}

/* Read at most `max` bytes from `offset` on.  0 or -errno. */
static int read_part(int fd, uint64_t offset, size_t max, struct al_str *out)
{
    if (offset > INT64_MAX)
        return 0;
    while (out->len < max) {
        size_t want = max - out->len < 1u << 16 ? max - out->len : 1u << 16;
        ssize_t n;

        al_str_reserve(out, want);
        n = pread(fd, out->buf + out->len, want, (off_t)(offset + out->len));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        out->len += (size_t)n;
        out->buf[out->len] = '\0';
    }
    return 0;
}

static int directory_read(struct al_sandbox *sandbox, const char *path, uint64_t offset, size_t max,
                          struct al_str *ret, uint64_t *ret_size, struct al_error *err)
{
    const struct al_directory *directory = sandbox->state;
    al_auto(al_closep) int fd = al_nofollow_open(directory->fd, path, O_RDONLY);
    struct stat st;
    int r;

    if (fd < 0)
        return al_directory_fail(-fd, path, err);
    r = fstat(fd, &st) < 0 ? al_directory_fail(errno, path, err)
                           : check_type(st.st_mode, path, err);
    if (r < 0)
        return r;
    r = read_part(fd, offset, max, ret);
    if (r < 0)
        return al_directory_fail(-r, path, err);
    *ret_size = (uint64_t)st.st_size;
    if (ret->len && *ret_size < offset + ret->len) /* it grew */
        *ret_size = offset + ret->len;
    return 0;
}

/* Enter a directory on the way to a new file, and create it if it is missing.  A descriptor,
 * -errno, or -EPERM where it would become a part of a git directory.  `*made`: it is new, so it is
 * neither a git directory nor in one. */
static int enter(int fd, const char *name, bool *made)
{
    int next = al_nofollow_open(fd, name, O_PATH | O_DIRECTORY);

    *made = false;
    if (next != -ENOENT)
        return next;
    if (al_gitdir_contains(fd, name))
        return -EPERM;
    *made = mkdirat(fd, name, 0777) == 0;
    if (!*made && errno != EEXIST)
        return -errno;
    return al_nofollow_open(fd, name, O_PATH | O_DIRECTORY);
}

int al_directory_open_parent(int fd, const char *path, int *ret_fd, const char **ret_name,
                             struct stat *ret_st, struct al_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    al_auto(al_freep) char *parents = al_strndup(path, slash ? (size_t)(slash - path) : 0);
    al_auto(al_closep) int at = al_nofollow_open(fd, "", O_PATH | O_DIRECTORY);
    char *save = NULL;
    bool made = false;

    for (char *part = strtok_r(parents, "/", &save); part && at >= 0;
         part = strtok_r(NULL, "/", &save)) {
        int next = enter(at, part, &made);

        al_close(at);
        at = next;
    }
    if (at == -EPERM || (at >= 0 && !made && al_gitdir_contains(at, name)))
        return al_gitdir_refuse(path, err);
    if (at < 0)
        return al_directory_write_fail(-at, path, err);
    if (fstatat(at, name, ret_st, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno != ENOENT)
            return al_directory_fail(errno, path, err);
        ret_st->st_mode = 0;
    }
    *ret_fd = al_take_fd(&at);
    *ret_name = name;
    return 0;
}

/* What a file counts towards max_bytes; st_mode is 0 when there is none. */
static int64_t cost_of(const char *path, const struct stat *st)
{
    return st->st_mode ? (int64_t)(AL_SANDBOX_FILE_BYTES + strlen(path)) + st->st_size : 0;
}

/* Files that were there before, or were imported, are not counted: reading them all would be slow,
 * and they are not what an agent can fill the disk with. */
static int check_room(const struct al_sandbox *sandbox, int64_t grown, struct al_error *err)
{
    return grown <= (int64_t)sandbox->max_bytes ? 0
                                                : al_sandbox_full(sandbox, (uint64_t)grown, err);
}

static int write_locked(struct al_sandbox *sandbox, const char *path, const void *data, size_t len,
                        struct al_error *err)
{
    struct al_directory *directory = sandbox->state;
    const struct stat written = { .st_mode = S_IFREG, .st_size = (off_t)len };
    al_auto(al_closep) int parent = -1;
    int64_t grown = directory->grown + cost_of(path, &written);
    const char *name;
    struct stat st;
    int r = al_directory_open_parent(directory->fd, path, &parent, &name, &st, err);

    if (r == 0 && st.st_mode)
        r = check_type(st.st_mode, path, err);
    if (r == 0) {
        grown -= cost_of(path, &st);
        r = check_room(sandbox, grown, err);
    }
    if (r == 0) {
        mode_t mode = st.st_mode ? st.st_mode & 0777 : 0666;

        r = al_fs_write_atomic(parent, name, data, len, mode, true);
        r = r < 0 ? al_directory_write_fail(-r, path, err) : 0;
    }
    if (r < 0)
        al_nofollow_remove_parents(directory->fd, path);
    else
        directory->grown = grown;
    return r;
}

static int directory_read_link(struct al_sandbox *sandbox, const char *path,
                               struct al_str *ret_target, struct al_error *err)
{
    struct al_directory *directory = sandbox->state;
    al_auto(al_closep) int fd = al_nofollow_open(directory->fd, path, O_PATH | O_NOFOLLOW);
    char target[PATH_MAX];
    ssize_t n;

    if (fd < 0)
        return al_directory_fail(-fd, path, err);
    n = readlinkat(fd, "", target, sizeof(target));
    if (n < 0) /* ENOENT: not a link */
        return al_directory_fail(errno, path, err);
    al_str_add(ret_target, target, (size_t)n);
    return 0;
}

/* Under the lock, no directory disappears while a file is written into it. */
static int directory_write(struct al_sandbox *sandbox, const char *path, const void *data,
                           size_t len, struct al_error *err)
{
    int r;

    (void)pthread_mutex_lock(&sandbox->lock);
    r = write_locked(sandbox, path, data, len, err);
    (void)pthread_mutex_unlock(&sandbox->lock);
    return r;
}

static int remove_locked(struct al_sandbox *sandbox, const char *path,
                         const struct al_sandbox_version *version, struct al_error *err)
{
    struct al_directory *directory = sandbox->state;
    const char *name;
    al_auto(al_closep) int parent = al_nofollow_open_parent(directory->fd, path, false, &name);
    struct stat st;
    int r;

    if (parent < 0)
        return al_directory_fail(-parent, path, err);
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return al_directory_fail(errno, path, err);
    r = S_ISLNK(st.st_mode) ? 0 : check_type(st.st_mode, path, err);
    if (r == 0 && version && !al_directory_is_version(sandbox, path, &st, version))
        r = al_sandbox_changed(path, err);
    if (r < 0)
        return r;
    if (unlinkat(parent, name, 0) < 0)
        return al_directory_fail(errno, path, err);
    directory->grown -= cost_of(path, &st);
    al_nofollow_remove_parents(directory->fd, path);
    return 0;
}

static int directory_remove(struct al_sandbox *sandbox, const char *path,
                            const struct al_sandbox_version *version, struct al_error *err)
{
    int r;

    (void)pthread_mutex_lock(&sandbox->lock);
    r = remove_locked(sandbox, path, version, err);
    (void)pthread_mutex_unlock(&sandbox->lock);
    return r;
}

static int directory_list(struct al_sandbox *sandbox, const char *dir, struct al_strv *ret_paths,
                          struct al_error *err)
{
    const struct al_directory *directory = sandbox->state;
    struct al_scan scan;
    int r;

    /* Under the lock, no file of a write that is not complete is seen. */
    (void)pthread_mutex_lock(&sandbox->lock);
    r = al_directory_scan(directory->fd, dir, &scan, err);
    (void)pthread_mutex_unlock(&sandbox->lock);
    if (r < 0)
        return r;
    for (size_t i = 0; i < scan.count; i++)
        al_strv_add(ret_paths, scan.items[i].path);
    al_scan_clear(&scan);
    return 0;
}

int al_sandbox_directory_init(struct al_sandbox *sandbox, const struct al_sandbox_options *options,
                              struct al_error *err)
{
    static const struct al_sandbox_backend backend = {
        .free = directory_free,
        .read = directory_read,
        .read_link = directory_read_link,
        .write = directory_write,
        .remove = directory_remove,
        .list = directory_list,
        .snapshot = al_directory_snapshot,
        .import = al_directory_import,
    };
    struct al_directory *directory;
    int fd, r = al_directory_open(options->path, options->roots, &fd, &sandbox->dir, err);

    if (r < 0)
        return r;
    directory = al_calloc(1, sizeof(*directory));
    directory->fd = fd;
    sandbox->state = directory;
    sandbox->backend = &backend;
    return 0;
}
