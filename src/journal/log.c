// SPDX-License-Identifier: Apache-2.0
#include "journal/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "guard/effects.h"
#include "journal/chain.h"
#include "journal/left.h"
#include "journal/slots.h"
#include "util/clock.h"
#include "util/utf8.h"

/** A result's text in the log is cut to this. */
#define TEXT_MAX_BYTES 4096u

/** Read beyond the cut, so that a secret lying across it is seen whole. */
#define TEXT_MARGIN_BYTES 1024u

struct al_journal {
    struct al_chain *chain;
    struct al_slots *open; /* the records that are not closed */
    char conversation[32];
};

struct al_record {
    char stamp[16]; /* when the call began, twice: local and UTC */
    char time[25];
    struct al_slot *slot; /* in open/ */
    char *tool;
    json_t *input; /* redacted */
};

static int name_conversation(struct al_journal *journal, struct al_error *err)
{
    unsigned char tail[3];
    char stamp[16];

    if (getrandom(tail, sizeof(tail), 0) != (ssize_t)sizeof(tail))
        return al_error_errno(err, errno, "cannot name the conversation");
    al_clock_stamp(stamp);
    (void)snprintf(journal->conversation, sizeof(journal->conversation), "%s-%02x%02x%02x", stamp,
                   tail[0], tail[1], tail[2]);
    return 0;
}

static int open_journal(struct al_journal *journal, const char *file, struct al_error *err)
{
    al_auto(al_freep) char *dir = NULL;
    int r;

    r = al_chain_open(file, &journal->chain, err);
    if (r < 0)
        return r;
    dir = al_asprintf("%.*s/open", (int)(strrchr(file, '/') - file), file);
    r = al_slots_open(dir, &journal->open, err);
    if (r == 0)
        r = name_conversation(journal, err);
    if (r == 0)
        al_slots_collect(journal->open, al_left_record, journal->chain);
    return r;
}

int al_journal_open(const char *file, struct al_journal **ret_journal, struct al_error *err)
{
    struct al_journal *journal = al_calloc(1, sizeof(*journal));
    int r;

    r = open_journal(journal, file, err);
    if (r < 0) {
        al_journal_free(journal);
        return r;
    }
    *ret_journal = journal;
    return 0;
}

void al_journal_free(struct al_journal *journal)
{
    if (!journal)
        return;
    al_chain_free(journal->chain);
    al_slots_free(journal->open);
    free(journal);
}

void al_journal_limit(struct al_journal *journal, uint64_t max_file_bytes)
{
    al_chain_limit(journal->chain, max_file_bytes);
}

const char *al_journal_conversation(const struct al_journal *journal)
{
    return journal->conversation;
}

static void free_record(struct al_record *record)
{
    json_decref(record->input);
    free(record->tool);
    free(record);
}

static void set_text(json_t *line, const char *name, const char *text)
{
    al_json_set(line, name, text ? al_json_string(text) : json_null());
}

/* Where to stop reading: after the margin, and there between two words. */
static size_t window(const char *text, size_t len)
{
    size_t end = TEXT_MAX_BYTES + TEXT_MARGIN_BYTES;

    if (len <= end)
        return len;
    for (size_t at = end; at > TEXT_MAX_BYTES; at--)
        if (text[at] == ' ' || text[at] == '\n' || text[at] == '\t')
            return at;
    return al_utf8_floor(text, end);
}

static json_t *short_text(const char *text, size_t len)
{
    al_auto(al_str_clear) struct al_str valid = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str clean = AL_STR_INIT;

    al_utf8_replace(text, window(text, len), &valid);
    al_redact_text(valid.buf, valid.len, &clean);
    if (clean.len > TEXT_MAX_BYTES)
        al_str_truncate(&clean, al_utf8_floor(clean.buf, TEXT_MAX_BYTES));
    return al_json_stringn(clean.buf, clean.len);
}

static json_t *result_of(const struct al_record_end *end)
{
    json_t *result = al_json_object();
    const char *text = end->text ? end->text : "";
    size_t len = end->text ? end->text_len : 0;

    al_json_set(result, "success", al_json_bool(end->success));
    al_json_set(result, end->success ? "output" : "error", short_text(text, len));
    return result;
}

static json_t *summary_of(const struct al_record_end *end)
{
    return end->summary ? short_text(end->summary, strlen(end->summary)) : json_null();
}

/* The members in the order they have in the log; "seq" and "prev" get their values from the chain.
 */
static json_t *line_of(const struct al_journal *journal, const struct al_record *record,
                       const struct al_record_end *end)
{
    json_t *line = al_json_object();

    set_text(line, "timestamp", record->stamp);
    set_text(line, "time", record->time);
    al_json_set(line, "seq", json_null());
    set_text(line, "conversation_id", journal->conversation);
    set_text(line, "tool", record->tool);
    set_text(line, "operation", end->operation);
    al_json_set(line, "effects", al_effects_names(end->effects));
    al_json_set(line, "input", json_incref(record->input));
    al_json_set(line, "result", result_of(end));
    set_text(line, "outcome", end->outcome);
    set_text(line, "decision", end->decision);
    set_text(line, "decided_by", end->decided_by);
    al_json_set(line, "summary", summary_of(end));
    set_text(line, "git_commit", end->git_commit);
    al_json_set(line, "duration_ms", al_json_int(end->duration_ms));
    set_text(line, "root", end->root);
    set_text(line, "repository", end->repository);
    set_text(line, "confinement", end->confinement);
    al_json_set(line, "prev", json_null());
    return line;
}

/* The line as it is written if this process dies before the call ends. */
static void add_note(const struct al_journal *journal, const struct al_record *record,
                     const struct al_record_end *known, struct al_str *out)
{
    al_auto(al_json_decrefp) json_t *note = line_of(journal, record, known);

    al_json_set(note, "duration_ms", json_null());
    al_json_dump(note, true, out);
    al_str_addc(out, '\n');
}

static struct al_record_end interrupted(const struct al_record_end *known)
{
    static const char text[] = "airlock ended while the call ran";
    struct al_record_end end = *known;

    end.outcome = "interrupted";
    end.success = false;
    end.text = text;
    end.text_len = strlen(text);
    return end;
}

static int write_open_file(struct al_journal *journal, struct al_record *record)
{
    const struct al_record_end known =
        interrupted(&(struct al_record_end){ .decision = "none", .decided_by = "none" });
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    add_note(journal, record, &known, &text);
    return al_slots_take(journal->open, text.buf, text.len, &record->slot);
}

int al_journal_open_record(struct al_journal *journal, const char *tool, const json_t *input,
                           struct al_record **ret_record, struct al_error *err)
{
    struct al_record *record;
    int r = al_chain_check(journal->chain, err);

    if (r < 0)
        return r;
    record = al_calloc(1, sizeof(*record));
    al_clock_stamp(record->stamp);
    al_clock_iso(record->time);
    record->tool = al_strdup(tool);
    record->input = input ? al_redact_json(input) : al_json_object();
    r = write_open_file(journal, record);
    if (r < 0) {
        free_record(record);
        return al_error_errno(err, -r, "cannot write the journal's open record");
    }
    *ret_record = record;
    return 0;
}

int al_journal_note(struct al_journal *journal, struct al_record *record,
                    const struct al_record_end *known, struct al_error *err)
{
    const struct al_record_end end = interrupted(known);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    add_note(journal, record, &end, &text);
    r = al_slots_extend(record->slot, text.buf, text.len);
    return r < 0 ? al_error_errno(err, -r, "cannot write the journal's open record") : 0;
}

int al_journal_close_record(struct al_journal *journal, struct al_record *record,
                            const struct al_record_end *end, struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *line = line_of(journal, record, end);
    int r;

    r = al_chain_append(journal->chain, line, err);
    if (r == 0)
        al_slots_give_back(journal->open, record->slot);
    else
        al_slots_leave(record->slot);
    free_record(record);
    return r;
}
