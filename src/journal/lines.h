// SPDX-License-Identifier: Apache-2.0
/* A log read line by line, however long it is and while it grows. */
#ifndef AL_JOURNAL_LINES_H
#define AL_JOURNAL_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

/** Longer lines are not of airlock's making: a message is 10 MiB at most. */
#define AL_JOURNAL_LINE_MAX_BYTES (64u << 20)

/** A place in a log.  Set up with AL_LINES_INIT. */
struct al_lines {
    int fd;         /* borrowed; its offset is not used */
    uint64_t at;    /* where the next byte is read */
    uint64_t limit; /* nothing at or beyond this offset is read */
    struct al_str buf;
    size_t begin; /* of the next line in buf */
};

#define AL_LINES_INIT(descriptor, from)                                                            \
    ((struct al_lines){ .fd = (descriptor), .at = (from), .limit = UINT64_MAX, .buf = AL_STR_INIT })

void al_lines_clear(struct al_lines *lines);

/**
 * The next line, without its newline and with a NUL; borrowed until the next call.
 *
 * @return 1; 0 at the end (and again later, when the file has grown); -errno, -EFBIG for a line
 *         over AL_JOURNAL_LINE_MAX_BYTES.
 */
int al_lines_next(struct al_lines *lines, const char **ret_line, size_t *ret_len);

/** Bytes of an unfinished line at the end, after al_lines_next() gave 0. */
size_t al_lines_rest(const struct al_lines *lines);

/** Offset in the file of the line that comes next. */
uint64_t al_lines_offset(const struct al_lines *lines);

#endif
