// SPDX-License-Identifier: Apache-2.0
/* One execution and its record: opened before anything else, closed when it has ended. */
#ifndef AL_JOURNAL_RECORDED_H
#define AL_JOURNAL_RECORDED_H

#include "journal/journal.h"

/** Set up with zeros.  Without a record nothing is written, and nothing may be changed. */
struct al_recorded {
    struct al_journal *journal;
    struct al_record *record; /**< NULL: there is none */
    int64_t began_ms;
};

/** How it ended. */
struct al_recorded_end {
    int status;   /**< 0 or an enum al_status */
    bool dry_run; /**< a success that only said what would be done */
    const char *text;
    size_t text_len;
};

/** Note that it began.  0 (also without a journal), or AL_ERR_EXECUTION: it cannot be written. */
int al_recorded_open(struct al_recorded *recorded, struct al_journal *journal,
                     const struct al_record_begin *begin, struct al_error *err);

/** Keep what is known by now, see al_journal_update(). */
int al_recorded_update(const struct al_recorded *recorded, const struct al_record_end *known,
                       struct al_error *err);

/** Before anything is changed: whether its line can be written, as far as that can be told.  0 or
 * AL_ERR_EXECUTION. */
int al_recorded_check(const struct al_recorded *recorded, struct al_error *err);

/** Keep it on the disk, see al_journal_note().  Without a record there is nothing to do. */
int al_recorded_note(const struct al_recorded *recorded, const struct al_record_end *known,
                     struct al_error *err);

/** Write the line: what is known, and how it ended.  A failure is a warning, since what happened
 * did happen. */
void al_recorded_close(struct al_recorded *recorded, const struct al_record_end *known,
                       const struct al_recorded_end *ending);

/** Milliseconds since it began. */
int64_t al_recorded_duration_ms(const struct al_recorded *recorded);

#endif
