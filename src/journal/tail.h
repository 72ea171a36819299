// SPDX-License-Identifier: Apache-2.0
/* A journal read line by line, from file to file, and while it grows. */
#ifndef AL_JOURNAL_TAIL_H
#define AL_JOURNAL_TAIL_H

#include "journal/history.h"
#include "journal/lines.h"

/** A place in the journal.  Set up with al_tail_start(). */
struct al_tail {
    const char *file; /* borrowed */
    struct al_lines lines;
    int fd; /* of the file that is read; -1: none was there yet */
};

/** Begin with file `index` of a history. 0 or -errno. */
int al_tail_start(struct al_tail *tail, const char *file, const struct al_history *history,
                  size_t index);
void al_tail_clear(struct al_tail *tail);

/**
 * The next line, without its newline and with a NUL; borrowed until the next call.
 *
 * @return 1; 0 when there is none yet (and again later, when there is); -errno, -EFBIG for a line
 *         over AL_JOURNAL_LINE_MAX_BYTES.
 */
int al_tail_next(struct al_tail *tail, const char **ret_line, size_t *ret_len);

#endif
