// SPDX-License-Identifier: Apache-2.0
#include "history/recorded.h"

#include "util/clock.h"
#include "util/log.h"

int al_recorded_open(struct al_recorded *recorded, struct al_journal *journal,
                     const struct al_record_begin *begin, struct al_error *err)
{
    *recorded = (struct al_recorded){ .journal = journal, .began_ms = al_clock_ms() };
    return journal ? al_journal_begin(journal, begin, &recorded->record, err) : 0;
}

int al_recorded_update(const struct al_recorded *recorded, const struct al_record_end *known,
                       struct al_error *err)
{
    return recorded->record ? al_journal_update(recorded->record, known, err) : 0;
}

int al_recorded_check(const struct al_recorded *recorded, struct al_error *err)
{
    if (!recorded->record)
        return al_error_set(err, AL_ERR_EXECUTION, "there is no open record");
    return al_journal_check(recorded->journal, err);
}

int al_recorded_note(const struct al_recorded *recorded, const struct al_record_end *known,
                     struct al_error *err)
{
    return recorded->record ? al_journal_note(recorded->record, known, err) : 0;
}

static const char *outcome_of(const struct al_recorded_end *ending)
{
    switch (ending->status) {
    case AL_OK:
        return ending->dry_run ? "dry_run" : "ok";
    case AL_ERR_TIMEOUT:
        return "timeout";
    case AL_ERR_CANCELLED:
        return "cancelled";
    case AL_ERR_APPROVAL_DENIED:
        return "declined";
    case AL_ERR_BAD_ARGS:
    case AL_ERR_SANDBOX:
    case AL_ERR_APPROVAL_REQUIRED:
    case AL_ERR_NOT_GRANTED:
        return "refused";
    default:
        return "error";
    }
}

void al_recorded_close(struct al_recorded *recorded, const struct al_record_end *known,
                       const struct al_recorded_end *ending)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_record_end end = *known;

    if (!recorded->record)
        return;
    end.outcome = outcome_of(ending);
    end.success = ending->status == AL_OK;
    end.text = ending->text;
    end.text_len = ending->text_len;
    end.duration_ms = al_recorded_duration_ms(recorded);
    if (al_journal_close_record(recorded->journal, al_take(&recorded->record), &end, &err) < 0)
        al_log_warn("the journal cannot be written: %s", err.message);
}

int64_t al_recorded_duration_ms(const struct al_recorded *recorded)
{
    return al_clock_ms() - recorded->began_ms;
}
