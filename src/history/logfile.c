// SPDX-License-Identifier: Apache-2.0
#include "history/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"

void al_logfile_clear(struct al_logfile *log)
{
    al_close(log->fd);
    log->fd = -1;
}

int al_logfile_open_regular(int dir_fd, const char *name, int flags)
{
    int fd =
        openat(dir_fd, name, flags | O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    struct stat st;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    al_close(fd);
    return -EINVAL;
}

int al_logfile_open(struct al_logfile *log)
{
    int fd = al_logfile_open_regular(log->dir_fd, log->name, O_APPEND);
    struct stat st;

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0) {
        int r = -errno;

        al_close(fd);
        return r;
    }
    al_close(log->fd);
    log->fd = fd;
    log->dev = st.st_dev;
    log->ino = st.st_ino;
    return 0;
}

int al_logfile_is_current(const struct al_logfile *log, uint64_t *ret_size)
{
    struct stat named;

    if (fstatat(log->dir_fd, log->name, &named, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (named.st_dev != log->dev || named.st_ino != log->ino)
        return 0;
    *ret_size = (uint64_t)named.st_size;
    return 1;
}

int al_logfile_size(const struct al_logfile *log, uint64_t *ret_size)
{
    struct stat st;

    if (fstat(log->fd, &st) < 0)
        return -errno;
    *ret_size = (uint64_t)st.st_size;
    return 0;
}

int al_logfile_add(const struct al_logfile *log, const struct al_str *text, uint64_t size)
{
    ssize_t n;

    do
        n = write(log->fd, text->buf, text->len);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)text->len)
        return 0;
    if (n < 0)
        return -errno;
    return ftruncate(log->fd, (off_t)size) < 0 ? -errno : -ENOSPC;
}

bool al_logfile_ends_in_line(const struct al_logfile *log, uint64_t size)
{
    char last = '\n';

    return size && pread(log->fd, &last, 1, (off_t)size - 1) == 1 && last != '\n';
}
