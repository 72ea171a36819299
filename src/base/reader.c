// SPDX-License-Identifier: Apache-2.0
#include "base/reader.h"

#include <errno.h>
#include <unistd.h>

/* Room for one read: enough for most messages, and small enough to keep. */
#define READ_BYTES ((size_t)16 * 1024)

/* A larger buffer is freed before the next line. */
#define KEEP_BYTES (4 * READ_BYTES)

void al_reader_clear(struct al_reader *reader)
{
    al_str_clear(&reader->buf);
    *reader = AL_READER_INIT(reader->fd);
}

/* Drop consumed bytes, since the wait for the next may be long. */
static void compact(struct al_reader *reader)
{
    struct al_str *buf = &reader->buf;
    size_t rest = buf->len - reader->start;

    if (!reader->start)
        return;
    if (buf->cap > KEEP_BYTES && rest < READ_BYTES) {
        struct al_str small = AL_STR_INIT;

        al_str_add(&small, buf->buf + reader->start, rest);
        al_str_clear(buf);
        *buf = small;
    } else {
        memmove(buf->buf, buf->buf + reader->start, rest);
        al_str_truncate(buf, rest);
    }
    reader->start = 0;
}

void al_reader_fill(struct al_reader *reader)
{
    struct al_str *buf = &reader->buf;
    ssize_t n;

    al_str_reserve(buf, READ_BYTES);
    do
        n = read(reader->fd, buf->buf + buf->len, buf->cap - buf->len - 1);
    while (n < 0 && errno == EINTR);
    if (n <= 0) {
        reader->ended = n == 0 || errno != EAGAIN;
        return;
    }
    buf->len += (size_t)n;
    buf->buf[buf->len] = '\0';
}

/* The end of the current line: its LF, or the end of input.  NULL: not read yet. */
static const char *find_end(struct al_reader *reader)
{
    const char *line = reader->buf.buf + reader->start;
    size_t len = reader->buf.len - reader->start;
    const char *end = memchr(line + reader->scanned, '\n', len - reader->scanned);

    reader->scanned = len;
    if (!end && reader->ended && len)
        end = line + len;
    return end;
}

/* Skip the line that ends at `end`, and its LF. */
static void consume(struct al_reader *reader, const char *end)
{
    size_t at = (size_t)(end - reader->buf.buf);

    reader->start = at < reader->buf.len ? at + 1 : at;
    reader->scanned = 0;
}

static void drop_all(struct al_reader *reader)
{
    reader->start = reader->buf.len;
    reader->scanned = 0;
}

static bool is_blank(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

enum al_line al_reader_next(struct al_reader *reader, const char **ret_line, size_t *ret_len)
{
    for (;;) {
        const char *end = find_end(reader);
        const char *line = reader->buf.buf + reader->start;
        size_t len = end ? (size_t)(end - line) : reader->buf.len - reader->start;
        bool skipping = reader->skipping;

        reader->skipping =
            !end && (skipping || len > AL_LINE_MAX_BYTES + 1); /* + 1: a CR may end it */
        if (end)
            consume(reader, end);
        else if (reader->skipping)
            drop_all(reader);
        if (!end && (skipping || !reader->skipping)) {
            compact(reader);
            return AL_LINE_NONE;
        }
        if (skipping)
            continue; /* the end of the long line */
        if (len && line[len - 1] == '\r')
            len--;
        *ret_line = line;
        *ret_len = len;
        if (len > AL_LINE_MAX_BYTES)
            return AL_LINE_TOO_LONG;
        if (!is_blank(line, len))
            return AL_LINE_READY;
    }
}
