// SPDX-License-Identifier: Apache-2.0
#include "util/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes that are copied at once. */
#define COPY_BYTES (128u * 1024u)

int al_write_all(int fd, const void *data, size_t len)
{
    const char *at = data;

    while (len) {
        ssize_t n = write(fd, at, len);

        if (n < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

int al_fs_copy(int from, int to)
{
    al_auto(al_freep) char *piece = al_malloc(COPY_BYTES);
    off_t at = 0;

    for (;;) {
        ssize_t n = pread(from, piece, COPY_BYTES, at);
        int r;

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        r = al_write_all(to, piece, (size_t)n);
        if (r < 0)
            return r;
        at += n;
    }
}

int al_fs_read_fd(int fd, size_t max_bytes, struct al_str *ret_text)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct stat st;
    off_t at = 0;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    if (st.st_size < 0 || (uint64_t)st.st_size > max_bytes)
        return -EFBIG;
    al_str_reserve(&text, (size_t)st.st_size + 1);
    for (;;) {
        size_t room;
        ssize_t n;

        al_str_reserve(&text, 1);
        room = text.cap - text.len - 1;
        n = pread(fd, text.buf + text.len, room, at);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        if (n == 0)
            break;
        text.len += (size_t)n;
        text.buf[text.len] = '\0';
        at += n;
        if (text.len > max_bytes)
            return -EFBIG;
        if (at == st.st_size && (size_t)n < room)
            break; /* a regular file has a short read at its end only */
    }
    al_str_clear(ret_text);
    *ret_text = text;
    text = AL_STR_INIT;
    return 0;
}

int al_fs_read(int dir_fd, const char *path, size_t max_bytes, struct al_str *ret_text)
{
    al_auto(al_closep) int fd =
        openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

    return fd < 0 ? -errno : al_fs_read_fd(fd, max_bytes, ret_text);
}

static int write_atomic(int dir_fd, const char *name, const void *data, size_t len, mode_t mode,
                        bool replace, bool durable)
{
    static atomic_uint serial;
    char temp_name[64];
    int fd, r;

    (void)snprintf(temp_name, sizeof(temp_name), ".airlock-%ld-%u", (long)getpid(),
                   atomic_fetch_add(&serial, 1));
    fd = openat(dir_fd, temp_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return -errno;
    r = al_write_all(fd, data, len);
    if (r == 0 && durable && fdatasync(fd) < 0)
        r = -errno;
    if (close(fd) < 0 && r == 0)
        r = -errno;
    if (r == 0 && renameat2(dir_fd, temp_name, dir_fd, name, replace ? 0 : RENAME_NOREPLACE) < 0)
        r = -errno;
    if (r < 0)
        (void)unlinkat(dir_fd, temp_name, 0);
    return r;
}

int al_fs_write_atomic(int dir_fd, const char *name, const void *data, size_t len, mode_t mode,
                       bool replace)
{
    return write_atomic(dir_fd, name, data, len, mode, replace, false);
}

int al_fs_write_durable(int dir_fd, const char *name, const void *data, size_t len, mode_t mode)
{
    int r = write_atomic(dir_fd, name, data, len, mode, true, true);

    return r < 0 ? r : al_fs_sync(dir_fd);
}

pid_t al_fs_temp_owner(const char *name)
{
    static const char prefix[] = ".airlock-", link[] = "link-", dir[] = "dir-",
                      digits[] = "0123456789";
    const char *at = name + strlen(prefix);
    int64_t pid = 0;
    size_t len;

    if (!al_starts_with(name, prefix))
        return 0;
    at += al_starts_with(at, link) ? strlen(link) : al_starts_with(at, dir) ? strlen(dir) : 0;
    for (; *at >= '0' && *at <= '9' && pid <= INT32_MAX; at++)
        pid = 10 * pid + (*at - '0');
    if (*at != '-' || pid > INT32_MAX)
        return 0;
    at++;
    at += *at == 'n'; /* util/new_file.c */
    len = strspn(at, digits);
    return len && !at[len] ? (pid_t)pid : 0;
}

/* EINVAL and EROFS: the file system has no fsync, and nothing else would help. */
int al_fs_sync(int fd)
{
    return fsync(fd) < 0 && errno != EINVAL && errno != EROFS ? -errno : 0;
}

DIR *al_fs_list(int fd)
{
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir)
        al_close(fd); /* which leaves errno */
    return dir;
}

DIR *al_fs_list_at(int dir_fd)
{
    return al_fs_list(openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

bool al_fs_is_empty_dir(int dir_fd)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    size_t count = 0;

    while (dir && count < 3 && readdir(dir))
        count++;
    return count == 2;
}

void al_closedirp(DIR **dir)
{
    if (*dir)
        (void)closedir(*dir);
}

int al_fs_mkdirs(const char *path, mode_t mode)
{
    al_auto(al_freep) char *copy = al_strdup(path);

    for (char *at = copy + strspn(copy, "/"); *at; at += strspn(at, "/")) {
        at += strcspn(at, "/");
        *at = '\0';
        if (mkdir(copy, mode) < 0 && errno != EEXIST)
            return -errno;
        *at = path[at - copy];
    }
    return 0;
}

int64_t al_fs_birth_ns(int fd)
{
    struct statx stx;

    if (statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BTIME, &stx) < 0 ||
        !(stx.stx_mask & STATX_BTIME))
        return 0;
    return stx.stx_btime.tv_sec * 1000000000 + stx.stx_btime.tv_nsec;
}

char *al_fs_fd_path(int fd)
{
    char link[64], target[4096];
    ssize_t n;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, target, sizeof(target) - 1);
    if (n <= 0 || target[0] != '/')
        return NULL;
    return al_strndup(target, (size_t)n);
}

const char *al_fs_beneath(const char *dir, const char *path)
{
    size_t len = strcmp(dir, "/") ? strlen(dir) : 0;

    if (strncmp(dir, path, len) != 0)
        return NULL;
    if (path[len] == '/')
        return path + len + 1;
    return path[len] ? NULL : path + len;
}

char *al_fs_join(const char *head, const char *tail)
{
    struct al_str path = AL_STR_INIT;

    if (tail[0] == '/')
        return al_strdup(tail);
    al_str_adds(&path, head);
    if (!al_ends_with(head, "/"))
        al_str_addc(&path, '/');
    al_str_adds(&path, tail);
    return al_str_detach(&path);
}

struct al_file_id al_file_id_from(const struct stat *st)
{
    return (struct al_file_id){
        .dev = (uint64_t)st->st_dev,
        .ino = (uint64_t)st->st_ino,
        .size = (uint64_t)st->st_size,
        .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
        .ctime_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec,
        .exists = true,
    };
}

struct al_file_id al_file_id_at(int dir_fd, const char *path)
{
    struct stat st;

    if (fstatat(dir_fd, path, &st, 0) < 0)
        return (struct al_file_id){ .exists = false };
    return al_file_id_from(&st);
}

bool al_file_id_equal(const struct al_file_id *a, const struct al_file_id *b)
{
    return a->exists == b->exists && a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
           a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}
