// SPDX-License-Identifier: Apache-2.0
/* A frame around lines on a terminal. */
#ifndef AL_CLI_FRAME_H
#define AL_CLI_FRAME_H

#include <stddef.h>

#include "util/str.h"

/** The widest frame in columns, and the narrowest one. */
#define AL_FRAME_MAX_COLUMNS 80
#define AL_FRAME_MIN_COLUMNS 40

/**
 * Append `text` in a frame.  A line that is too long goes on in the next one.
 *
 * @param text     Safe text: lines, each ended by a newline.
 * @param columns  The width of the terminal; 0: not known.
 */
void al_frame_add(struct al_str *out, const char *text, size_t columns);

/** The columns of a terminal; 0: not known. */
size_t al_frame_columns(int fd);

#endif
