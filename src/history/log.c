// SPDX-License-Identifier: Apache-2.0
#include "history/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "guard/rules/effects.h"
#include "history/chain.h"
#include "history/input.h"
#include "history/open_records.h"
#include "history/recover.h"
#include "history/sync_later.h"
#include "util/clock.h"
#include "util/utf8.h"

/** A result's text in the log is cut to this. */
#define TEXT_MAX_BYTES 4096u

/** This much is read beyond the cut, so that a secret across the cut is recognised. */
#define TEXT_MARGIN_BYTES 1024u

struct al_journal {
    struct al_chain *chain;
    struct al_open_records *open;
    struct al_sync_later *later; /* NULL: closing a record synchronises */
    char session_id[32];
    atomic_uint_least64_t calls; /* the number of the last call that began */
    /* The members after "input" of a call that is interrupted right away. */
    struct al_str interrupted;
};

/* The members that all lines about a call have, as text. */
struct al_record {
    struct al_journal *journal;
    struct al_open_record open;
    struct al_str begin; /* the members before "operation" */
    struct al_str input; /* without secrets */
};

static int name_session(struct al_journal *journal, struct al_error *err)
{
    unsigned char tail[3];
    char stamp[16];

    if (getrandom(tail, sizeof(tail), 0) != (ssize_t)sizeof(tail))
        return al_error_errno(err, errno, "cannot make a session id");
    al_clock_stamp(stamp);
    (void)snprintf(journal->session_id, sizeof(journal->session_id), "%s-%02x%02x%02x", stamp,
                   tail[0], tail[1], tail[2]);
    return 0;
}

/* Lines are written as text.  Building a tree of JSON values first takes longer than everything
 * else. */
#define MEMBER(name) ",\"" name "\":"

static void add_text(struct al_str *line, const char *member, const char *text)
{
    al_str_adds(line, member);
    if (text)
        al_json_quote_ascii(text, strlen(text), line);
    else
        al_str_adds(line, "null");
}

/* The length of a text to read: to the end of the margin, if possible between two words. */
static size_t read_limit(const char *text, size_t len)
{
    size_t end = TEXT_MAX_BYTES + TEXT_MARGIN_BYTES;

    if (len <= end)
        return len;
    for (size_t at = end; at > TEXT_MAX_BYTES; at--)
        if (text[at] == ' ' || text[at] == '\n' || text[at] == '\t')
            return at;
    return al_utf8_floor(text, end);
}

/* Add a text without secrets, cut, and as valid UTF-8.  Most texts need no change and are not
 * copied. */
static void add_clean(struct al_str *line, const char *text, size_t len)
{
    al_auto(al_str_clear) struct al_str valid = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str clean = AL_STR_INIT;

    if (!al_utf8_valid(text, len)) {
        al_utf8_replace(text, len, &valid);
        text = valid.buf;
        len = valid.len;
    }
    if (al_redact_finds(text, len)) {
        al_redact_text(text, len, &clean);
        text = clean.buf;
        len = clean.len;
    }
    if (len > TEXT_MAX_BYTES)
        len = al_utf8_floor(text, TEXT_MAX_BYTES);
    al_json_quote_ascii(text, len, line);
}

static void add_short_text(struct al_str *line, const char *member, const char *text, size_t len)
{
    al_str_adds(line, member);
    add_clean(line, text, read_limit(text, len));
}

static void add_result(struct al_str *line, const struct al_record_end *end)
{
    add_short_text(line,
                   end->success ? MEMBER("result") "{\"success\":true" MEMBER("output")
                                : MEMBER("result") "{\"success\":false" MEMBER("error"),
                   end->text ? end->text : "", end->text ? end->text_len : 0);
    al_str_addc(line, '}');
}

static void add_summary(struct al_str *line, const struct al_record_end *end)
{
    if (end->summary)
        add_short_text(line, MEMBER("summary"), end->summary, strlen(end->summary));
    else
        add_text(line, MEMBER("summary"), NULL);
}

static void add_operation(struct al_str *line, const struct al_record_end *end)
{
    const char *before = "";

    add_text(line, MEMBER("operation"), end->operation);
    al_str_adds(line, MEMBER("effects") "[");
    for (unsigned bit = 1; bit < 1u << AL_EFFECT_COUNT; bit <<= 1) {
        if (!(end->effects & bit))
            continue;
        al_str_adds(line, before);
        al_json_quote_ascii(al_effect_name(bit), strlen(al_effect_name(bit)), line);
        before = ",";
    }
    al_str_addc(line, ']');
}

static void add_decision(struct al_str *line, const struct al_record_end *end)
{
    add_text(line, MEMBER("decision"), end->decision);
    add_text(line, MEMBER("decided_by"), end->decided_by);
    add_summary(line, end);
    add_text(line, MEMBER("git_commit"), end->git_commit);
}

static void add_location(struct al_str *line, const struct al_record_end *end)
{
    add_text(line, MEMBER("root"), end->root);
    add_text(line, MEMBER("repository"), end->repository);
    add_text(line, MEMBER("confinement"), end->confinement);
}

/* Add the members after "input".  Without a duration: for a call that has not ended. */
static void add_end(struct al_str *line, const struct al_record_end *end,
                    const int64_t *duration_ms)
{
    add_result(line, end);
    add_text(line, MEMBER("outcome"), end->outcome);
    add_decision(line, end);
    if (duration_ms) {
        al_str_addf(line, MEMBER("duration_ms") "%" PRId64, *duration_ms);
    } else {
        add_text(line, MEMBER("duration_ms"), NULL);
    }
    add_location(line, end);
    al_str_adds(line, MEMBER("prev") "null");
}

/* Add all members, in order.  al_chain_append() fills in the two that are null. */
static void add_line(const struct al_record *record, const struct al_record_end *end,
                     struct al_str *line)
{
    al_str_reserve(line, record->begin.len + record->input.len + 1000);
    al_str_addc(line, '{');
    al_str_add(line, record->begin.buf, record->begin.len);
    add_operation(line, end);
    al_str_adds(line, MEMBER("input"));
    al_str_add(line, record->input.buf, record->input.len);
    add_end(line, end, &end->duration_ms);
    al_str_addc(line, '}');
}

/* The members after "input" that the line has if this process dies before the call ends. */
static void add_interrupted(struct al_str *line)
{
    static const char text[] = "airlock ended while the call ran";
    const struct al_record_end end = { .outcome = "interrupted",
                                       .decision = "none",
                                       .decided_by = "none",
                                       .text = text,
                                       .text_len = strlen(text) };

    add_end(line, &end, NULL);
}

static int open_journal(struct al_journal *journal, const char *file, struct al_error *err)
{
    al_auto(al_freep) char *dir = NULL;
    int r;

    r = al_chain_open(file, &journal->chain, err);
    if (r < 0)
        return r;
    dir = al_asprintf("%.*s/open", (int)(strrchr(file, '/') - file), file);
    r = al_open_records_open(dir, &journal->open, err);
    if (r == 0)
        r = name_session(journal, err);
    add_interrupted(&journal->interrupted);
    if (r == 0)
        al_journal_recover(journal->chain, al_open_records_dir(journal->open));
    return r;
}

int al_journal_open(const char *file, struct al_journal **ret_journal, struct al_error *err)
{
    struct al_journal *journal = al_calloc(1, sizeof(*journal));
    int r;

    journal->interrupted = AL_STR_INIT;
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
    al_sync_later_free(journal->later); /* before what it uses */
    al_chain_free(journal->chain);
    al_open_records_free(journal->open);
    al_str_clear(&journal->interrupted);
    free(journal);
}

const char *al_journal_file(const struct al_journal *journal)
{
    return al_chain_file(journal->chain);
}

void al_journal_limit(struct al_journal *journal, uint64_t max_file_bytes)
{
    al_chain_limit(journal->chain, max_file_bytes);
}

void al_journal_sync_later(struct al_journal *journal)
{
    journal->later = al_sync_later_new(journal->chain, journal->open);
}

const char *al_journal_session_id(const struct al_journal *journal)
{
    return journal->session_id;
}

char *al_journal_conversation(const struct al_journal *journal, uint64_t number)
{
    return number ? al_asprintf("%s.%" PRIu64, journal->session_id, number)
                  : al_strdup(journal->session_id);
}

static void free_record(struct al_record *record)
{
    al_str_clear(&record->begin);
    al_str_clear(&record->input);
    free(record);
}

static struct al_record *begin_record(struct al_journal *journal,
                                      const struct al_record_begin *begin)
{
    struct al_record *record = al_calloc(1, sizeof(*record));
    al_auto(al_freep) char *conversation = al_journal_conversation(journal, begin->session);
    uint64_t id = atomic_fetch_add(&journal->calls, 1) + 1;
    char stamp[16], time[25];

    al_clock_stamp(stamp);
    al_clock_iso(time);
    record->journal = journal;
    record->open.serial = id;
    record->begin = AL_STR_INIT;
    record->input = AL_STR_INIT;
    al_str_reserve(&record->begin, 200);
    al_str_adds(&record->begin, "\"timestamp\":\"");
    al_str_adds(&record->begin, stamp);
    al_str_adds(&record->begin, "\"" MEMBER("time") "\"");
    al_str_adds(&record->begin, time);
    al_str_adds(&record->begin, "\"" MEMBER("seq") "null" MEMBER("conversation_id") "\"");
    al_str_adds(&record->begin, conversation);
    al_str_addf(&record->begin, "\"" MEMBER("id") "%" PRIu64, id);
    add_text(&record->begin, MEMBER("agent"), begin->agent);
    add_text(&record->begin, MEMBER("tool"), begin->tool);
    al_journal_add_input(begin, &record->input);
    return record;
}

static int wrap_error(int r, struct al_error *err)
{
    return r < 0 ? al_error_errno(err, -r, "cannot write the journal's open record") : 0;
}

static int write_begin(struct al_journal *journal, struct al_record *record)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_reserve(&line, record->begin.len + record->input.len + journal->interrupted.len + 100);
    al_str_add(&line, record->begin.buf, record->begin.len);
    al_str_adds(&line, MEMBER("operation") "null" MEMBER("effects") "[]" MEMBER("input"));
    al_str_add(&line, record->input.buf, record->input.len);
    al_str_add(&line, journal->interrupted.buf, journal->interrupted.len);
    return al_open_records_begin(journal->open, record->open.serial, &line, &record->open);
}

int al_journal_begin(struct al_journal *journal, const struct al_record_begin *begin,
                     struct al_record **ret_record, struct al_error *err)
{
    struct al_record *record;
    int r = al_chain_failed(journal->chain) ? al_chain_check(journal->chain, err) : 0;

    if (r < 0)
        return r;
    record = begin_record(journal, begin);
    r = write_begin(journal, record);
    if (r < 0) {
        free_record(record);
        return wrap_error(r, err);
    }
    *ret_record = record;
    return 0;
}

int al_journal_open_record(struct al_journal *journal, const char *tool, const json_t *input,
                           struct al_record **ret_record, struct al_error *err)
{
    const struct al_record_begin begin = { .tool = tool, .input = input };

    return al_journal_begin(journal, &begin, ret_record, err);
}

int al_journal_check(struct al_journal *journal, struct al_error *err)
{
    return al_chain_check(journal->chain, err);
}

static int write_note(const struct al_record *record, const struct al_record_end *known)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_reserve(&line, 1000);
    al_str_adds(&line, "\"outcome\":\"interrupted\"");
    add_operation(&line, known);
    add_decision(&line, known);
    add_location(&line, known);
    return al_open_records_note(record->journal->open, &record->open, &line);
}

int al_journal_update(struct al_record *record, const struct al_record_end *known,
                      struct al_error *err)
{
    return wrap_error(write_note(record, known), err);
}

int al_journal_note(struct al_record *record, const struct al_record_end *known,
                    struct al_error *err)
{
    int r = write_note(record, known);

    if (r == 0)
        r = al_open_records_sync(record->journal->open, &record->open);
    return wrap_error(r, err);
}

/* Calls that only read do not wait for the disk. */
static bool is_durable(const struct al_record_end *end)
{
    static const char *const nothing_done[] = { "refused", "declined", "dry_run" };

    for (size_t i = 0; i < AL_COUNT(nothing_done); i++)
        if (!end->outcome || !strcmp(end->outcome, nothing_done[i]))
            return false;
    return al_effects_have_side_effects(end->effects);
}

int al_journal_close_record(struct al_journal *journal, struct al_record *record,
                            const struct al_record_end *end, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    bool is_later = false;
    int r;

    add_line(record, end, &line);
    r = al_chain_append(journal->chain, &line, err);
    if (r == 0 && is_durable(end)) {
        is_later = al_sync_later_add(journal->later, &record->open);
        r = is_later ? 0 : al_chain_sync(journal->chain, err);
    }
    if (r < 0)
        al_open_records_abandon(journal->open, &record->open);
    else if (!is_later)
        al_open_records_end(journal->open, &record->open);
    free_record(record);
    return r;
}
