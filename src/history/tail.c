// SPDX-License-Identifier: Apache-2.0
#include "history/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read `fd` from its beginning.  The tail now owns it. */
static void read_from(struct al_tail *tail, int fd)
{
    al_lines_clear(&tail->lines);
    al_close(tail->fd);
    tail->fd = fd;
    tail->lines = AL_LINES_INIT(fd, 0);
}

int al_tail_start(struct al_tail *tail, const char *file, const struct al_history *history,
                  size_t index)
{
    int fd;

    *tail = (struct al_tail){ .file = file, .lines = AL_LINES_INIT(-1, 0), .fd = -1 };
    if (index >= al_history_count(history))
        return 0; /* there is no file yet */
    fd = al_history_file(history, index);
    if (fd < 0)
        return fd;
    read_from(tail, fd);
    return 0;
}

void al_tail_clear(struct al_tail *tail)
{
    al_lines_clear(&tail->lines);
    al_close(tail->fd);
    tail->fd = -1;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the file may still grow. */
static bool is_current(const struct al_tail *tail)
{
    struct stat mine, named;

    return tail->fd >= 0 && fstat(tail->fd, &mine) == 0 && lstat(tail->file, &named) == 0 &&
           same_file(&mine, &named);
}

/* Open the file after the current one, or the oldest if the current one is no longer part of the
 * journal. */
static int find_next(const struct al_tail *tail, const struct al_history *history)
{
    struct stat mine = { .st_ino = 0 };
    size_t count = al_history_count(history), next = 0;

    if (tail->fd >= 0 && fstat(tail->fd, &mine) < 0)
        return -errno;
    for (size_t i = 0; i < count && tail->fd >= 0; i++) {
        al_auto(al_closep) int fd = al_history_file(history, i);
        struct stat st;

        if (fd < 0)
            return fd;
        if (fstat(fd, &st) == 0 && same_file(&st, &mine))
            next = i + 1;
    }
    return next < count ? al_history_file(history, next) : -ENOENT;
}

/* Continue with the next file.  1; 0 when there is none yet; -errno. */
static int open_next(struct al_tail *tail)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    int r = al_history_open(tail->file, NULL, &history);

    if (r == 0)
        r = find_next(tail, &history);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    read_from(tail, r);
    return 1;
}

int al_tail_next(struct al_tail *tail, const char **ret_line, size_t *ret_len)
{
    for (;;) {
        bool current = is_current(tail);
        int r = tail->fd >= 0 ? al_lines_next(&tail->lines, ret_line, ret_len) : 0;

        /* Nothing is appended to a file that was replaced before this read reached its end. */
        if (r != 0 || current)
            return r;
        r = open_next(tail);
        if (r <= 0)
            return r;
    }
}
