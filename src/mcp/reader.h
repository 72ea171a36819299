// SPDX-License-Identifier: Apache-2.0
/*
 * Lines from a descriptor, one message each.
 *
 * A line ends with LF or CR LF; the last one may end with the input.  Blank lines are passed over.
 * A line longer than AL_LINE_MAX_BYTES is reported once, as soon as that is certain, and the rest
 * of it is dropped as it arrives.  Memory grown for a long line is given back after it.
 */
#ifndef AL_MCP_READER_H
#define AL_MCP_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "util/str.h"

/** The longest line, its end not counted. */
#define AL_LINE_MAX_BYTES (10u * 1024u * 1024u)

/** Input cut into lines. */
struct al_reader {
    int fd;
    struct al_str buf;
    size_t start;   /**< where the line that is being read begins */
    size_t scanned; /**< bytes from `start` known to hold no LF */
    bool skipping;  /**< inside a line that was too long */
    bool ended;     /**< end of input, or a read error */
};

#define AL_READER_INIT(descriptor) ((struct al_reader){ .fd = (descriptor), .buf = AL_STR_INIT })

void al_reader_clear(struct al_reader *reader);

/** Read once; blocks when there is nothing.  At the end of input `ended` is set. */
void al_reader_fill(struct al_reader *reader);

/** What al_reader_next() found. */
enum al_line {
    AL_LINE_NONE,  /**< nothing more until the next al_reader_fill() */
    AL_LINE_READY, /**< *ret_line and *ret_len hold one, until the next call */
    AL_LINE_TOO_LONG,
};

/** The next line of what was read. */
enum al_line al_reader_next(struct al_reader *reader, const char **ret_line, size_t *ret_len);

/**
 * Whether bytes are left that al_reader_next() has not given.  Where there are none, the memory of
 * the last line goes.
 */
bool al_reader_has_more(struct al_reader *reader);

#endif
