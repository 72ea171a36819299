// SPDX-License-Identifier: Apache-2.0
/* Reading a log line by line, however large it is and while it grows. */
#ifndef AL_HISTORY_LINES_H
#define AL_HISTORY_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

/** airlock never writes a longer line: a message has at most 10 MiB. */
#define AL_JOURNAL_LINE_MAX_BYTES (64u << 20)

/** A position in a log.  Set up with AL_LINES_INIT. */
struct al_lines {
    int fd;         /* borrowed; its file offset is not used */
    uint64_t at;    /* offset of the next byte to read */
    uint64_t limit; /* nothing at or beyond this offset is read */
    struct al_str buf;
    size_t begin; /* offset in buf of the next line */
};

#define AL_LINES_INIT(descriptor, from)                                                            \
    ((struct al_lines){ .fd = (descriptor), .at = (from), .limit = UINT64_MAX, .buf = AL_STR_INIT })

void al_lines_clear(struct al_lines *lines);

/**
 * The next line, with a NUL in place of its newline.  Borrowed until the next call.
 *
 * @return 1; 0 at the end, where a later call finds what was appended since; -errno; -EFBIG for a
 *         line over AL_JOURNAL_LINE_MAX_BYTES.
 */
int al_lines_next(struct al_lines *lines, const char **ret_line, size_t *ret_len);

/** Bytes of a partial line at the end, after al_lines_next() returned 0. */
size_t al_lines_rest(const struct al_lines *lines);

/** Offset in the file of the next line. */
uint64_t al_lines_offset(const struct al_lines *lines);

#endif
