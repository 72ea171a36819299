// SPDX-License-Identifier: Apache-2.0
/*
 * Reads lines from a descriptor; each line is one message.
 *
 * - A line ends with LF or CR LF.  The last line may end with the input instead.
 * - Blank lines are skipped.
 * - A line longer than AL_LINE_MAX_BYTES is reported once, as soon as its length is certain.  The
 *   rest of that line is dropped as it arrives.
 * - Memory that a long line needed is freed after the line.
 */
#ifndef AL_BASE_READER_H
#define AL_BASE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/** The longest line, without its line end. */
#define AL_LINE_MAX_BYTES (10u * 1024u * 1024u)

/** A descriptor and what was read from it. */
struct al_reader {
    int fd;
    struct al_str buf;
    size_t start;   /**< where the current line begins in `buf` */
    size_t scanned; /**< bytes from `start` that hold no LF */
    bool skipping;  /**< inside a line that is too long */
    bool ended;     /**< end of input, or a read error */
};

#define AL_READER_INIT(descriptor) ((struct al_reader){ .fd = (descriptor), .buf = AL_STR_INIT })

void al_reader_clear(struct al_reader *reader);

/** Call read(2) once; blocks while there is no input, unless the descriptor does not.  Sets `ended`
 * at the end of input. */
void al_reader_fill(struct al_reader *reader);

/** The results of al_reader_next(). */
enum al_line {
    AL_LINE_NONE,     /**< no whole line; call al_reader_fill() */
    AL_LINE_READY,    /**< *ret_line and *ret_len are valid until the next call */
    AL_LINE_TOO_LONG, /**< *ret_line and *ret_len are its beginning, valid until the next call */
};

/** Get the next line of what was read. */
enum al_line al_reader_next(struct al_reader *reader, const char **ret_line, size_t *ret_len);

#endif
