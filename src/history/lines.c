// SPDX-License-Identifier: Apache-2.0
#include "history/lines.h"

#include <errno.h>
#include <unistd.h>

#define CHUNK_BYTES (64u << 10)

void al_lines_clear(struct al_lines *lines)
{
    al_str_clear(&lines->buf);
}

size_t al_lines_rest(const struct al_lines *lines)
{
    return lines->buf.len - lines->begin;
}

uint64_t al_lines_offset(const struct al_lines *lines)
{
    return lines->at - al_lines_rest(lines);
}

/* Read the next part of the file.  1; 0 at its end; -errno. */
static int fill(struct al_lines *lines)
{
    uint64_t left = lines->limit - lines->at;
    size_t want = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
    ssize_t n;

    if (lines->begin) {
        lines->buf.len -= lines->begin;
        memmove(lines->buf.buf, lines->buf.buf + lines->begin, lines->buf.len);
        lines->begin = 0;
    }
    if (!want)
        return 0;
    al_str_reserve(&lines->buf, want);
    do
        n = pread(lines->fd, lines->buf.buf + lines->buf.len, want, (off_t)lines->at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    lines->buf.len += (size_t)n;
    lines->buf.buf[lines->buf.len] = '\0';
    lines->at += (uint64_t)n;
    return n > 0;
}

int al_lines_next(struct al_lines *lines, const char **ret_line, size_t *ret_len)
{
    size_t searched = 0; /* bytes of the line that are known to have no newline */

    for (;;) {
        char *line = lines->buf.buf + lines->begin;
        size_t have = al_lines_rest(lines);
        char *end = memchr(line + searched, '\n', have - searched);
        int r;

        if (end ? end - line > (ptrdiff_t)AL_JOURNAL_LINE_MAX_BYTES
                : have > AL_JOURNAL_LINE_MAX_BYTES)
            return -EFBIG;
        if (end) {
            *end = '\0';
            *ret_line = line;
            *ret_len = (size_t)(end - line);
            lines->begin += *ret_len + 1;
            return 1;
        }
        searched = have;
        r = fill(lines);
        if (r <= 0)
            return r;
    }
}
