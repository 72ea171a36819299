// SPDX-License-Identifier: Apache-2.0
#include "util/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "util/mem.h"

#define WRITE_FLAGS (O_WRONLY | O_CLOEXEC)

/* Choose a temporary name in this directory.  0 or -errno. */
static int make_temp_name(struct al_new_file *file, int dir_fd)
{
    static atomic_uint serial;

    file->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
    if (file->dir_fd < 0)
        return -errno;
    (void)snprintf(file->temp_name, sizeof(file->temp_name), ".airlock-%ld-n%u", (long)getpid(),
                   atomic_fetch_add(&serial, 1));
    return 0;
}

static void forget_temp_name(struct al_new_file *file)
{
    al_closep(&file->dir_fd);
    *file->temp_name = '\0';
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

/* NFS and others cannot rename without replacing. */
static int rename_to(const struct al_new_file *file, int dir_fd, const char *name, bool replace)
{
    if (renameat2(file->dir_fd, file->temp_name, dir_fd, name, replace ? 0 : RENAME_NOREPLACE) == 0)
        return 0;
    if (replace || errno != EINVAL)
        return -errno;
    if (linkat(file->dir_fd, file->temp_name, dir_fd, name, 0) < 0)
        return -errno;
    (void)unlinkat(file->dir_fd, file->temp_name, 0);
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
    int r = replace && !*file->temp_name ? give_temp_name(file, dir_fd) : 0;

    if (r == 0 && !*file->temp_name)
        r = link_to(file, dir_fd, name);
    else if (r == 0) {
        r = file->fd >= 0 ? close_checked(file) : 0;
        if (r == 0)
            r = rename_to(file, dir_fd, name, replace);
    }
    if (r == 0) {
        forget_temp_name(file);
        al_closep(&file->fd);
    }
    return r;
}

void al_new_file_clear(struct al_new_file *file)
{
    if (*file->temp_name)
        (void)unlinkat(file->dir_fd, file->temp_name, 0);
    forget_temp_name(file);
    al_closep(&file->fd);
}
