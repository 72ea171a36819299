// SPDX-License-Identifier: Apache-2.0
/* Reading a journal line by line, from file to file and while it grows. */
#ifndef AL_HISTORY_TAIL_H
#define AL_HISTORY_TAIL_H

#include "history/history.h"
#include "history/lines.h"

/** A position in a journal.  Set up with al_tail_start(). */
struct al_tail {
    const char *file; /* borrowed */
    struct al_lines lines;
    int fd; /* the file being read; -1 while there is none */
};

/** Begin with file `index` of a history.  0 or -errno. */
int al_tail_start(struct al_tail *tail, const char *file, const struct al_history *history,
                  size_t index);
void al_tail_clear(struct al_tail *tail);

/**
 * The next line, with a NUL in place of its newline.  Borrowed until the next call.
 *
 * @return 1; 0 at the end, where a later call finds what was appended since; -errno; -EFBIG for a
 *         line over AL_JOURNAL_LINE_MAX_BYTES.
 */
int al_tail_next(struct al_tail *tail, const char **ret_line, size_t *ret_len);

#endif
