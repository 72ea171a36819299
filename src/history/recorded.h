// SPDX-License-Identifier: Apache-2.0
/* A call or a rollback with its record, which is opened first and closed last. */
#ifndef AL_HISTORY_RECORDED_H
#define AL_HISTORY_RECORDED_H

#include "history/journal.h"

/** An execution and its record.  Zero-initialised has none.  Without a record nothing is written,
 * and nothing may be changed. */
struct al_recorded {
    struct al_journal *journal;
    struct al_record *record; /**< NULL when there is none */
    int64_t began_ms;
};

/** The end of an execution. */
struct al_recorded_end {
    int status;   /**< 0 or an enum al_status */
    bool dry_run; /**< it succeeded and changed nothing, as asked */
    const char *text;
    size_t text_len;
};

/** Record that an execution began.  0, also without a journal; AL_ERR_EXECUTION when the journal
 * cannot be written. */
int al_recorded_open(struct al_recorded *recorded, struct al_journal *journal,
                     const struct al_record_begin *begin, struct al_error *err);

/** Record what is known so far, see al_journal_update(). */
int al_recorded_update(const struct al_recorded *recorded, const struct al_record_end *known,
                       struct al_error *err);

/** Check, before anything is changed, that the line can probably be written.  0 or
 * AL_ERR_EXECUTION.
 */
int al_recorded_check(const struct al_recorded *recorded, struct al_error *err);

/** Record what is known on the disk, see al_journal_note().  0 when there is no record. */
int al_recorded_note(const struct al_recorded *recorded, const struct al_record_end *known,
                     struct al_error *err);

/** Write the line.  A failure is only a warning, since the execution has happened. */
void al_recorded_close(struct al_recorded *recorded, const struct al_record_end *known,
                       const struct al_recorded_end *ending);

/** Milliseconds since the execution began. */
int64_t al_recorded_duration_ms(const struct al_recorded *recorded);

#endif
