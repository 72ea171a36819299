// SPDX-License-Identifier: Apache-2.0
#include "journal/journal.h"

#include <errno.h>
#include <inttypes.h>
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

/*
 * Lines are written as text from the start: a tree of values for each would be built only to be
 * written, which takes longer than the rest of them.
 */
static void begin_member(struct al_str *line, const char *name)
{
    al_str_adds(line, line->len ? ",\"" : "{\"");
    al_str_adds(line, name);
    al_str_adds(line, "\":");
}

static void add_text(struct al_str *line, const char *name, const char *text)
{
    begin_member(line, name);
    if (text)
        al_json_quote_ascii(text, strlen(text), line);
    else
        al_str_adds(line, "null");
}

static void add_json(struct al_str *line, const char *name, const json_t *value)
{
    begin_member(line, name);
    al_json_dump(value, true, line);
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

static void add_short_text(struct al_str *line, const char *name, const char *text, size_t len)
{
    al_auto(al_str_clear) struct al_str valid = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str clean = AL_STR_INIT;

    al_utf8_replace(text, window(text, len), &valid);
    al_redact_text(valid.buf, valid.len, &clean);
    if (clean.len > TEXT_MAX_BYTES)
        al_str_truncate(&clean, al_utf8_floor(clean.buf, TEXT_MAX_BYTES));
    begin_member(line, name);
    al_json_quote_ascii(clean.buf, clean.len, line);
}

static void add_result(struct al_str *line, const struct al_record_end *end)
{
    begin_member(line, "result");
    al_str_adds(line, end->success ? "{\"success\":true" : "{\"success\":false");
    add_short_text(line, end->success ? "output" : "error", end->text ? end->text : "",
                   end->text ? end->text_len : 0);
    al_str_addc(line, '}');
}

static void add_summary(struct al_str *line, const struct al_record_end *end)
{
    if (end->summary)
        add_short_text(line, "summary", end->summary, strlen(end->summary));
    else
        add_text(line, "summary", NULL);
}

static void add_effects(struct al_str *line, unsigned effects)
{
    al_auto(al_json_decrefp) json_t *names = al_effects_names(effects);

    add_json(line, "effects", names);
}

/* The members in the order they have in the log; see al_chain_append() for the two that are null.
 * No duration: one that is not over. */
static void add_line(const struct al_journal *journal, const struct al_record *record,
                     const struct al_record_end *end, const int64_t *duration_ms,
                     struct al_str *line)
{
    add_text(line, "timestamp", record->stamp);
    add_text(line, "time", record->time);
    add_text(line, "seq", NULL);
    add_text(line, "conversation_id", journal->conversation);
    add_text(line, "tool", record->tool);
    add_text(line, "operation", end->operation);
    add_effects(line, end->effects);
    add_json(line, "input", record->input);
    add_result(line, end);
    add_text(line, "outcome", end->outcome);
    add_text(line, "decision", end->decision);
    add_text(line, "decided_by", end->decided_by);
    add_summary(line, end);
    add_text(line, "git_commit", end->git_commit);
    if (duration_ms)
        al_str_addf(line, ",\"duration_ms\":%" PRId64, *duration_ms);
    else
        add_text(line, "duration_ms", NULL);
    add_text(line, "root", end->root);
    add_text(line, "repository", end->repository);
    add_text(line, "confinement", end->confinement);
    add_text(line, "prev", NULL);
    al_str_addc(line, '}');
}

/* What the line is if this process dies before the call ends. */
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

    add_line(journal, record, &known, NULL, &text);
    return al_slots_take(journal->open, text.buf, text.len, &record->slot);
}

int al_journal_open_record(struct al_journal *journal, const char *tool, const json_t *input,
                           struct al_record **ret_record, struct al_error *err)
{
    struct al_record *record;
    int r = al_chain_failed(journal->chain) ? al_chain_check(journal->chain, err) : 0;

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

int al_journal_check(struct al_journal *journal, struct al_error *err)
{
    return al_chain_check(journal->chain, err);
}

int al_journal_note(struct al_journal *journal, struct al_record *record,
                    const struct al_record_end *known, struct al_error *err)
{
    const struct al_record_end end = interrupted(known);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    add_line(journal, record, &end, NULL, &text);
    r = al_slots_extend(record->slot, text.buf, text.len);
    return r < 0 ? al_error_errno(err, -r, "cannot write the journal's open record") : 0;
}

int al_journal_close_record(struct al_journal *journal, struct al_record *record,
                            const struct al_record_end *end, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    int r;

    add_line(journal, record, end, &end->duration_ms, &line);
    r = al_chain_append(journal->chain, &line, err);
    if (r == 0)
        al_slots_give_back(journal->open, record->slot);
    else
        al_slots_leave(record->slot);
    free_record(record);
    return r;
}
