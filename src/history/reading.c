// SPDX-License-Identifier: Apache-2.0
/* Reading a journal: its files, line by line, from file to file and while it grows. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/utf8.h"
#include "history/journal_private.h"

#define CHUNK_BYTES (64u << 10)

/* --- Files --- */

#define LOG_SUFFIX ".jsonl"

int al_journal_open_dir(const char *path, struct al_error *err)
{
    int fd, r = al_fs_mkdirs(path, 0700);

    if (r < 0)
        return al_error_errno(err, -r, "cannot create '%s'", path);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? al_error_errno(err, errno, "cannot open '%s'", path) : fd;
}

int al_journal_open_file(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    struct stat st;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    al_close(fd);
    return -EINVAL;
}

int al_journal_lock(int fd, int how)
{
    int r;

    do
        r = flock(fd, how);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

char *al_journal_beside(const char *file, const char *suffix)
{
    size_t len = strlen(file);

    if (al_ends_with(file, LOG_SUFFIX))
        len -= strlen(LOG_SUFFIX);
    return al_asprintf("%.*s%s", (int)len, file, suffix);
}

char *al_journal_full_path(const char *file, uint64_t number)
{
    al_auto(al_freep) char *suffix = al_asprintf(".%" PRIu64 LOG_SUFFIX, number);

    return al_journal_beside(file, suffix);
}

uint64_t al_journal_count_full(const char *file)
{
    for (uint64_t count = 0;; count++) {
        al_auto(al_freep) char *path = al_journal_full_path(file, count + 1);
        struct stat st;

        if (lstat(path, &st) < 0)
            return count;
    }
}

/* --- Lines --- */

/* Read the next part of the file.  1; 0 at its end; -errno. */
static int fill(struct al_history *history)
{
    uint64_t left = history->limit - history->at;
    size_t want = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
    ssize_t n;

    if (history->begin) {
        history->buf.len -= history->begin;
        memmove(history->buf.buf, history->buf.buf + history->begin, history->buf.len);
        history->begin = 0;
    }
    if (!want)
        return 0;
    al_str_reserve(&history->buf, want);
    do
        n = pread(history->fd, history->buf.buf + history->buf.len, want, (off_t)history->at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    history->buf.len += (size_t)n;
    history->buf.buf[history->buf.len] = '\0';
    history->at += (uint64_t)n;
    return n > 0;
}

/* The next line of the file.  1; 0 at its end; -errno. */
static int next_line(struct al_history *history, const char **ret_line, size_t *ret_len)
{
    size_t searched = 0; /* bytes of the line that are known to have no newline */

    for (;;) {
        char *line = history->buf.buf + history->begin;
        size_t have = history->buf.len - history->begin;
        char *end = memchr(line + searched, '\n', have - searched);
        int r;

        if (end ? end - line > (ptrdiff_t)AL_JOURNAL_LINE_MAX_BYTES
                : have > AL_JOURNAL_LINE_MAX_BYTES)
            return -EFBIG;
        if (end) {
            *end = '\0';
            *ret_line = line;
            *ret_len = (size_t)(end - line);
            history->begin += *ret_len + 1;
            return 1;
        }
        searched = have;
        r = fill(history);
        if (r <= 0)
            return r;
    }
}

/* --- From file to file --- */

int al_journal_lock_head(const char *file, int *ret_fd)
{
    al_auto(al_freep) char *path = al_journal_beside(file, ".head");

    *ret_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (*ret_fd < 0)
        return errno == ENOENT ? 0 : -errno;
    return al_journal_lock(*ret_fd, LOCK_SH);
}

int al_history_open(const char *file, struct al_history *ret_history)
{
    al_auto(al_closep) int head_fd = -1;
    struct stat st = { .st_size = 0 };
    int r = al_journal_lock_head(file, &head_fd);

    if (r == 0 && lstat(file, &st) < 0 && errno != ENOENT)
        r = -errno;
    if (r < 0)
        return r;
    *ret_history = AL_HISTORY_INIT;
    ret_history->file = file;
    ret_history->last = al_journal_count_full(file);
    ret_history->size = (uint64_t)st.st_size;
    return 0;
}

void al_history_clear(struct al_history *history)
{
    al_close(history->fd);
    al_str_clear(&history->buf);
    *history = AL_HISTORY_INIT;
}

/* Open the file that is read next, by the name that it has now.  0, also when it is not there yet;
 * or -errno. */
static int open_file(struct al_history *history)
{
    al_auto(al_closep) int head_fd = -1;
    al_auto(al_freep) char *full = al_journal_full_path(history->file, history->index + 1);
    struct stat st;
    int fd, r = al_journal_lock_head(history->file, &head_fd);

    if (r < 0)
        return r;
    fd = al_journal_open_file(lstat(full, &st) < 0 ? history->file : full, O_RDONLY);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    history->fd = fd;
    history->at = 0;
    history->limit =
        history->index == history->last && !history->follow ? history->size : UINT64_MAX;
    return 0;
}

bool al_history_skip_old(struct al_history *history, uint64_t max_bytes)
{
    const char *text;
    struct stat st;
    size_t len;

    history->index = history->last - (history->last && history->size < max_bytes);
    if (open_file(history) < 0 || history->fd < 0 || fstat(history->fd, &st) < 0 ||
        (uint64_t)st.st_size <= max_bytes)
        return history->index > 0;
    history->at = (uint64_t)st.st_size - max_bytes;
    (void)next_line(history, &text, &len); /* the rest of a line */
    return true;
}

/* Whether nothing is appended any more to the file that is read. */
static bool is_full(const struct al_history *history)
{
    al_auto(al_freep) char *path = NULL;
    struct stat st;

    if (history->index < history->last || !history->follow)
        return history->index < history->last;
    path = al_journal_full_path(history->file, history->index + 1);
    return lstat(path, &st) == 0;
}

int al_history_next(struct al_history *history, const char **ret_line, size_t *ret_len)
{
    for (;;) {
        /* The end of a file that was full before this read is its end. */
        const bool full = is_full(history);
        int r = history->fd < 0 ? open_file(history) : 0;
        struct stat st;

        if (r == 0 && history->fd >= 0)
            r = next_line(history, ret_line, ret_len);
        /* Another journal may begin after a file that was removed. */
        if (r != 0 || (!full && (!history->follow || history->fd < 0 ||
                                 fstat(history->fd, &st) < 0 || st.st_nlink)))
            return r;
        history->is_torn |= history->buf.len > history->begin;
        al_close(history->fd);
        history->fd = -1;
        history->buf.len = history->begin = 0;
        history->index = full ? history->index + 1 : 0;
    }
}

/* --- The paths of a line --- */

char *al_journal_path(const json_t *line, const char *member)
{
    const char *text = al_json_get_string(line, member);
    struct al_str path = AL_STR_INIT;

    if (!text)
        return NULL;
    al_utf8_unescape(text, &path);
    return al_str_detach(&path);
}

bool al_journal_is_about(const json_t *line, const char *repository)
{
    al_auto(al_freep) char *path = al_journal_path(line, "repository");

    return path && !strcmp(path, repository);
}
