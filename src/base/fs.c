// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/mem.h"

/*
 * Removing a tree that a confined program could write, and may still be writing.
 *
 * - Every directory is opened by its name in the directory above (openat(2), O_NOFOLLOW), so a
 *   directory that is replaced by a link meanwhile is removed as a link.
 * - Each level costs a descriptor.  A directory below MAX_DEPTH levels is moved to the top of the
 *   tree, and is removed from there.
 * - A directory without permissions gets them back.
 */

#define MAX_DEPTH 32
/* Each round removes MAX_DEPTH levels of the deepest branch. */
#define MAX_ROUNDS 100000

struct removal {
    int top_fd;      /* of the directory that is removed */
    unsigned nmoved; /* directories moved to the top */
};

/* chmod(2) follows links.  A descriptor of the entry itself has a path that leads nowhere else. */
static void make_accessible(int at_fd, const char *name)
{
    al_auto(al_closep) int fd = openat(at_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char path[64];

    if (fd < 0)
        return;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    (void)chmod(path, S_IRWXU);
}

static int open_plain(int at_fd, const char *name)
{
    return openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int open_dir(int at_fd, const char *name)
{
    int fd = open_plain(at_fd, name);

    if (fd >= 0 || errno != EACCES)
        return fd;
    make_accessible(at_fd, name);
    return open_plain(at_fd, name);
}

static void move_to_top(struct removal *removal, int at_fd, const char *name)
{
    char moved[32];

    (void)snprintf(moved, sizeof(moved), ".moved-%u", removal->nmoved);
    if (renameat(at_fd, name, removal->top_fd, moved) == 0 || errno == EEXIST ||
        errno == ENOTEMPTY || errno == ENOTDIR)
        removal->nmoved++;
}

/* At most MAX_DEPTH levels of recursion. */
static void remove_entries(struct removal *removal, int fd, unsigned depth)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(fd);
    const struct dirent *entry;

    (void)fchmod(fd, S_IRWXU); /* entries of a directory without `w` cannot be removed */
    while (dir && (entry = readdir(dir))) {
        const char *name = entry->d_name;
        al_auto(al_closep) int child_fd = -1;

        if (!strcmp(name, ".") || !strcmp(name, "..") || unlinkat(fd, name, 0) == 0)
            continue;
        if (depth == MAX_DEPTH && unlinkat(fd, name, AT_REMOVEDIR) < 0) {
            move_to_top(removal, fd, name);
            continue;
        }
        child_fd = open_dir(fd, name);
        if (child_fd >= 0)
            remove_entries(removal, child_fd, depth + 1);
        (void)unlinkat(fd, name, AT_REMOVEDIR);
    }
}

void al_fs_remove_tree(const char *path)
{
    al_fs_remove_tree_at(AT_FDCWD, path);
}

void al_fs_remove_tree_at(int dir_fd, const char *name)
{
    al_auto(al_closep) int top_fd = open_dir(dir_fd, name);
    struct removal removal = { .top_fd = top_fd };
    unsigned nmoved;

    if (top_fd < 0) {
        (void)unlinkat(dir_fd, name, 0);
        return;
    }
    for (unsigned round = 0; round < MAX_ROUNDS; round++) {
        nmoved = removal.nmoved;
        remove_entries(&removal, top_fd, 1);
        if (removal.nmoved == nmoved)
            break;
    }
    (void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* Each level has a descriptor; what is deeper stays, or does not count. */
#define WALK_MAX_DEPTH 128

/* rmdir(2) takes no other. */
static void remove_empty(int dir_fd, const char *name, unsigned depth)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list(open_plain(dir_fd, name));
    const struct dirent *entry;

    if (!dir || depth == WALK_MAX_DEPTH)
        return;
    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_empty(dirfd(dir), entry->d_name, depth + 1);
    (void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}

void al_fs_remove_empty(int dir_fd, const char *name)
{
    remove_empty(dir_fd, name, 0);
}

/* NFS and others do not know that flag.  There a file has both names for a moment; a directory
 * cannot, and a look before has to do. */
int al_fs_rename_new(int from_fd, const char *from, int to_fd, const char *to)
{
    struct stat st;

    if (renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL || fstatat(from_fd, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return linkat(from_fd, from, to_fd, to, 0) < 0 || unlinkat(from_fd, from, 0) < 0 ? -errno
                                                                                         : 0;
    if (fstatat(to_fd, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    return renameat(from_fd, from, to_fd, to) < 0 ? -errno : 0;
}

static int rename_to(int dir_fd, const char *from, int to_fd, const char *to, bool replace)
{
    if (!replace)
        return al_fs_rename_new(dir_fd, from, to_fd, to);
    return renameat(dir_fd, from, to_fd, to) < 0 ? -errno : 0;
}

#define WRITE_FLAGS (O_RDWR | O_CLOEXEC)

char *al_fs_temp_name(void)
{
    static atomic_uint serial;

    return al_asprintf(".airlock-%ld-%u", (long)getpid(), atomic_fetch_add(&serial, 1));
}

/* Choose a temporary name in this directory.  0 or -errno. */
static int make_temp_name(struct al_new_file *file, int dir_fd)
{
    file->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
    if (file->dir_fd < 0)
        return -errno;
    file->temp_name = al_fs_temp_name();
    return 0;
}

static void forget_temp_name(struct al_new_file *file)
{
    al_closep(&file->dir_fd);
    free(al_take(&file->temp_name));
}

/* EISDIR: the kernel or the file system does not know O_TMPFILE. */
static bool has_no_tmpfile(int errno_value)
{
    return errno_value == EOPNOTSUPP || errno_value == EISDIR || errno_value == EINVAL;
}

static int open_named(struct al_new_file *file, int dir_fd, mode_t mode)
{
    int r = make_temp_name(file, dir_fd);

    if (r < 0)
        return r;
    file->fd = openat(dir_fd, file->temp_name, O_CREAT | O_EXCL | O_NOFOLLOW | WRITE_FLAGS, mode);
    if (file->fd < 0) {
        r = -errno;
        forget_temp_name(file);
    }
    return r;
}

int al_new_file_open(struct al_new_file *file, int dir_fd, mode_t mode)
{
    *file = AL_NEW_FILE_INIT;
    file->fd = openat(dir_fd, ".", O_TMPFILE | WRITE_FLAGS, mode);
    if (file->fd >= 0)
        return 0;
    return has_no_tmpfile(errno) ? open_named(file, dir_fd, mode) : -errno;
}

/* Give it a first name, which must not exist.  0 or -errno.  Before Linux 6.10 the short way needs
 * a capability, and fails with ENOENT without it. */
static int link_to(const struct al_new_file *file, int dir_fd, const char *name)
{
    static atomic_bool goes_the_long_way;
    char self[40];

    if (!atomic_load(&goes_the_long_way)) {
        if (linkat(file->fd, "", dir_fd, name, AT_EMPTY_PATH) == 0)
            return 0;
        if (errno != ENOENT)
            return -errno;
    }
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
    if (linkat(AT_FDCWD, self, dir_fd, name, AT_SYMLINK_FOLLOW) < 0)
        return -errno;
    atomic_store(&goes_the_long_way, true);
    return 0;
}

/* A name cannot be replaced by linking, so the file gets another one first.  0 or -errno. */
static int give_temp_name(struct al_new_file *file, int dir_fd)
{
    int r = make_temp_name(file, dir_fd);

    if (r == 0)
        r = link_to(file, dir_fd, file->temp_name);
    if (r < 0)
        forget_temp_name(file);
    return r;
}

/* Some file systems write when the file is closed.  0 or -errno. */
static int close_checked(struct al_new_file *file)
{
    return close(al_take_fd(&file->fd)) < 0 ? -errno : 0;
}

int al_new_file_name(struct al_new_file *file, int dir_fd, const char *name, bool replace)
{
    int r = replace && !file->temp_name ? give_temp_name(file, dir_fd) : 0;

    if (r == 0 && !file->temp_name)
        r = link_to(file, dir_fd, name);
    else if (r == 0) {
        r = file->fd >= 0 ? close_checked(file) : 0;
        if (r == 0)
            r = rename_to(file->dir_fd, file->temp_name, dir_fd, name, replace);
    }
    if (r == 0) {
        forget_temp_name(file);
        al_closep(&file->fd);
    }
    return r;
}

void al_new_file_clear(struct al_new_file *file)
{
    if (file->temp_name)
        (void)unlinkat(file->dir_fd, file->temp_name, 0);
    forget_temp_name(file);
    al_closep(&file->fd);
}

/* Bytes that are copied at once. */
#define COPY_BYTES (1u << 20)

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

int al_fs_copy(int from, int to, uint64_t max_bytes)
{
    off_t at = 0;
    ssize_t n;

    do
        n = sendfile(to, from, &at, COPY_BYTES);
    while ((n > 0 && (uint64_t)at <= max_bytes) || (n < 0 && errno == EINTR));
    return n < 0 ? -errno : n > 0 ? -EFBIG : 0;
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
    al_auto(al_new_file_clear) struct al_new_file file = AL_NEW_FILE_INIT;
    int r = open_named(&file, dir_fd, mode);

    if (r == 0)
        r = al_write_all(file.fd, data, len);
    if (r == 0 && durable && fdatasync(file.fd) < 0)
        r = -errno;
    return r < 0 ? r : al_new_file_name(&file, dir_fd, name, replace);
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
    static const char prefix[] = ".airlock-", digits[] = "0123456789";
    const bool begins = al_starts_with(name, prefix);
    const char *pid = begins ? name + strlen(prefix) : "", *dash = pid + strspn(pid, digits);
    const size_t len = *dash == '-' ? strspn(dash + 1, digits) : 0;
    const long long owner = strtoll(pid, NULL, 10);

    return len && !dash[1 + len] && owner > 0 && owner <= INT32_MAX ? (pid_t)owner : 0;
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
    const char *slash = strrchr(path, '/');
    al_auto(al_freep) char *above = al_strndup(path, slash ? (size_t)(slash - path) : 0);
    int r;

    if (mkdir(path, mode) == 0 || errno == EEXIST)
        return 0;
    if (errno != ENOENT || !*above)
        return -errno;
    r = al_fs_mkdirs(above, mode);
    return r == 0 && mkdir(path, mode) < 0 && errno != EEXIST ? -errno : r;
}

int64_t al_fs_birth_ns(int fd)
{
    struct statx stx;

    if (statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BTIME, &stx) < 0 ||
        !(stx.stx_mask & STATX_BTIME))
        return 0;
    return stx.stx_btime.tv_sec * 1000000000 + stx.stx_btime.tv_nsec;
}

char *al_fs_dir_id(int fd)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return NULL;
    return al_asprintf("%jx.%jx", (uintmax_t)st.st_ino, (uintmax_t)al_fs_birth_ns(fd));
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
