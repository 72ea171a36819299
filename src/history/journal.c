// SPDX-License-Identifier: Apache-2.0
/* Calls in the journal: their lines, and when these are on the disk. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/secret.h"
#include "guard/effects.h"
#include "guard/redact.h"
#include "history/journal_private.h"

/** Calls of one session in several processes are numbered from random numbers of so many bits on:
 * their ids differ, and every reader of JSON can hold them. */
#define CALL_BITS 48

/** Longer ids are not a client's. */
#define ID_MAX_BYTES 128u

/*
 * A thread that synchronises the log for calls that were answered already, and ends when none is
 * left.
 *
 * A call is added after its line was written to the log.  Its open record stays until the line and
 * the head are on the disk, so that a power failure in between leaves an interrupted call, and not
 * one that nobody knows of.  Calls that end meanwhile are synchronised together.
 */
struct later {
    bool wanted;          /* else closing a record synchronises */
    pthread_mutex_t lock; /* protects what follows */
    pthread_t thread;
    bool started, runs; /* a thread that does not run any more is still to be joined */
    struct al_record *records;
};

struct al_journal {
    struct al_chain chain;
    int open_fd; /* the directory of the running calls */
    struct later later;
    char *session_id;
    struct al_strv clients;      /* see al_journal_join() */
    bool joined;                 /* it was called */
    atomic_uint_least64_t calls; /* the number of the last call that began */
};

struct al_record {
    struct al_journal *journal;
    struct al_open_record open;
    json_t *line; /* as it is if the call never ends */
    int64_t began_ms;
    uint64_t seen;          /* see al_record_seen() */
    struct al_record *next; /* of those that are synchronised later */
};

/* --- The text of a line --- */

static json_t *text_or_null(const char *text)
{
    return text ? al_json_string(text) : json_null();
}

static json_t *result_of(bool success, const char *text, size_t len)
{
    return json_pack("{s:b, s:o}", "success", success, success ? "output" : "error",
                     al_redact_log_text(text ? text : "", text ? len : 0));
}

static json_t *name_or_null(const char *name)
{
    return name ? al_json_name(name) : json_null();
}

/* The members that may become known before the call ends. */
static json_t *known_members(const struct al_record_end *known)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:n, s:o, s:o, s:o}", "operation",
        text_or_null(known->operation), "effects", al_effects_names(known->effects), "decision",
        text_or_null(known->decision), "decided_by", text_or_null(known->decided_by), "summary",
        known->summary ? al_redact_log_text(known->summary, strlen(known->summary)) : json_null(),
        "git_commit", text_or_null(known->git_commit), "duration_ms", "root",
        name_or_null(known->root), "repository", name_or_null(known->repository), "confinement",
        text_or_null(known->confinement));
}

/* Put a member before the last one of a line. */
static void set_before_last(json_t *line, const char *name, json_t *value)
{
    (void)json_object_del(line, "prev");
    al_json_set(line, name, value);
    al_json_set(line, "prev", json_null());
}

/* The line of a call that begins, as it is if airlock ends before the call does.
 * al_chain_append() fills in `seq` and `prev`. */
static json_t *new_line(const struct al_journal *journal, const struct al_record_begin *begin,
                        uint64_t id)
{
    static const char text[] = "airlock ended while the call ran";
    const struct al_record_end unknown = { .decision = "none", .decided_by = "none" };
    al_auto(al_freep) char *conversation = al_journal_conversation(journal, begin->session);
    al_auto(al_json_decrefp) json_t *known = known_members(&unknown);
    char stamp[16], time[25];
    json_t *line;

    al_clock_stamp(stamp);
    al_clock_iso(time);
    /* Operation and effects are known members, before others. */
    line = json_pack("{s:s, s:s, s:n, s:o, s:I, s:o, s:o, s:n, s:n, s:o, s:o, s:s}", "timestamp",
                     stamp, "time", time, "seq", "conversation_id", al_json_string(conversation),
                     "id", (json_int_t)id, "agent", text_or_null(begin->agent), "tool",
                     text_or_null(begin->tool), "operation", "effects", "input",
                     al_redact_input(begin->input, begin->names), "result",
                     result_of(false, text, strlen(text)), "outcome", "interrupted");
    (void)json_object_update(line, known);
    al_json_set(line, "prev", json_null());
    if (begin->call_id)
        set_before_last(line, "call_id", al_json_string(begin->call_id));
    if (begin->label)
        set_before_last(line, "label", al_json_string(begin->label));
    return line;
}

static void free_record(struct al_record *record, bool is_written)
{
    al_open_record_close(&record->open, is_written);
    json_decref(record->line);
    free(record);
}

/* --- Synchronising later --- */

static void sync_all(struct al_journal *journal, struct al_record *records)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const int r = al_chain_sync(&journal->chain, &err);

    if (r < 0)
        al_log_warn("the journal cannot be written: %s", err.message);
    while (records) {
        struct al_record *next = records->next;

        free_record(records, r == 0);
        records = next;
    }
}

static void *thread_main(void *payload)
{
    struct al_journal *journal = payload;
    struct later *later = &journal->later;

    (void)pthread_mutex_lock(&later->lock);
    while (later->records) {
        struct al_record *records = al_take(&later->records);

        (void)pthread_mutex_unlock(&later->lock);
        sync_all(journal, records);
        (void)pthread_mutex_lock(&later->lock);
    }
    later->runs = false;
    (void)pthread_mutex_unlock(&later->lock);
    return NULL;
}

/* Wait for the thread, which ends by itself. */
static void join(struct later *later)
{
    if (later->started)
        (void)pthread_join(later->thread, NULL);
}

/* Have a call's line synchronised and its record freed.  False when there is no thread, which
 * inherits its creator's seccomp filter, if any.  It only writes to files that are open. */
static bool sync_later(struct later *later, struct al_record *record)
{
    al_hold(&later->lock);

    if (later->wanted && !later->runs) {
        join(later);
        later->runs = pthread_create(&later->thread, NULL, thread_main, record->journal) == 0;
        later->started = later->runs;
    }
    if (!later->runs)
        return false;
    al_open_record_written(&record->open);
    record->next = later->records;
    later->records = record;
    return true;
}

/* --- The journal --- */

static int open_journal(struct al_journal *journal, const char *file, struct al_error *err)
{
    al_auto(al_freep) char *dir = NULL;
    char stamp[16], tail[7];
    int r = al_chain_open(&journal->chain, file, err);

    if (r < 0)
        return r;
    dir = al_asprintf("%.*s/open", (int)(strrchr(file, '/') - file), file);
    journal->open_fd = al_journal_open_dir(dir, err);
    if (journal->open_fd < 0)
        return journal->open_fd;
    al_random_hex(sizeof(tail) / 2, tail);
    al_clock_stamp(stamp);
    journal->session_id = al_asprintf("%s-%s", stamp, tail);
    al_journal_recover(&journal->chain, journal->open_fd);
    return 0;
}

int al_journal_open(const char *file, struct al_journal **ret_journal, struct al_error *err)
{
    struct al_journal *journal = al_calloc(1, sizeof(*journal));
    int r;

    journal->open_fd = -1;
    (void)pthread_mutex_init(&journal->later.lock, NULL);
    r = open_journal(journal, file, err);
    if (r < 0)
        al_journal_free(journal);
    else
        *ret_journal = journal;
    return r;
}

void al_journal_free(struct al_journal *journal)
{
    if (!journal)
        return;
    join(&journal->later); /* before what it uses */
    (void)pthread_mutex_destroy(&journal->later.lock);
    al_chain_close(&journal->chain);
    al_close(journal->open_fd);
    free(journal->session_id);
    al_strv_clear(&journal->clients);
    free(journal);
}

void al_journal_sync_later(struct al_journal *journal)
{
    journal->later.wanted = true;
}

const char *al_journal_file(const struct al_journal *journal)
{
    return journal->chain.file;
}

void al_journal_limit(struct al_journal *journal, uint64_t max_file_bytes)
{
    journal->chain.max_bytes = max_file_bytes;
}

char *al_journal_conversation(const struct al_journal *journal, uint64_t number)
{
    for (size_t i = 0; i < journal->clients.count; i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;

        if (al_fs_read(AT_FDCWD, journal->clients.items[i], 1 << 20, &text) == 0)
            al_strv_split(&ids, text.buf, "\n");
        if (al_strv_contains(&ids, journal->session_id))
            return al_strdup(ids.items[ids.count - 1]);
    }
    return number ? al_asprintf("%s.%" PRIu64, journal->session_id, number)
                  : al_strdup(journal->session_id);
}

bool al_journal_is_id(const char *id)
{
    const size_t len =
        strspn(id ? id : "", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-");

    return len && len <= ID_MAX_BYTES && !id[len];
}

void al_journal_join(struct al_journal *journal, const char *id, const struct al_strv *clients)
{
    uint64_t first = 0;

    if (journal->joined)
        return;
    journal->joined = true;
    if (!al_journal_is_id(id))
        return;
    free(journal->session_id);
    journal->session_id = al_strdup(id);
    al_strv_add_all(&journal->clients, clients);
    if (getrandom(&first, sizeof(first), 0) == (ssize_t)sizeof(first))
        journal->calls = first >> (64 - CALL_BITS);
}

int al_journal_check(struct al_journal *journal, struct al_error *err)
{
    return al_chain_check(&journal->chain, err);
}

/* --- Records --- */

static int wrap_error(int r, struct al_error *err)
{
    return r < 0 ? al_error_errno(err, -r, "cannot write the journal's open record") : 0;
}

int al_record_open(struct al_journal *journal, const struct al_record_begin *begin,
                   struct al_record **ret_record, struct al_error *err)
{
    struct al_record *record;
    int r;

    if (!journal)
        return 0;
    record = al_calloc(1, sizeof(*record));
    record->journal = journal;
    record->began_ms = al_clock_ms();
    record->line = new_line(journal, begin, atomic_fetch_add(&journal->calls, 1) + 1);
    r = al_open_record_begin(journal->open_fd, record->line, &record->open);
    if (r < 0) {
        json_decref(record->line);
        free(record);
        return wrap_error(r, err);
    }
    *ret_record = record;
    return 0;
}

int al_record_update(struct al_record *record, const struct al_record_end *known, bool durable,
                     struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *members = NULL;
    int r;

    if (!record)
        return 0;
    members = known_members(known);
    if (known->git_commit) /* what ended before the checkpoint is in it */
        record->seen = al_chain_last(&record->journal->chain);
    (void)json_object_update_existing(record->line, members);
    r = al_open_record_note(&record->open, members);
    if (r == 0 && durable &&
        (fdatasync(record->open.fd) < 0 || fsync(record->journal->open_fd) < 0))
        r = -errno;
    return wrap_error(r, err);
}

bool al_journal_held_no_lock(const json_t *line)
{
    const char *tool = al_json_get_string(line, "tool");
    const char *operation = al_json_get_string(line, "operation");

    return (tool && !strcmp(tool, "run")) || (operation && !strcmp(operation, AL_HELD_OPERATION));
}

static const char *outcome_of(const struct al_record_end *end)
{
    switch (end->status) {
    case AL_OK:
        return end->interrupted ? "interrupted" : end->dry_run ? "dry_run" : "ok";
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

uint64_t al_record_seen(const struct al_record *record)
{
    return record ? record->seen : 0;
}

void al_record_share(const struct al_record *record)
{
    if (record)
        (void)fcntl(record->open.fd, F_SETFD, 0);
}

int al_record_close(struct al_record *record, const struct al_record_end *end)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_json_decrefp) json_t *known = NULL;
    const char *outcome = outcome_of(end);
    struct al_journal *journal;
    int r;

    if (!record)
        return 0;
    journal = record->journal;
    known = known_members(end);
    (void)json_object_update_existing(record->line, known);
    al_json_set(record->line, "result", result_of(end->status == AL_OK, end->text, end->text_len));
    al_json_set(record->line, "outcome", al_json_string(outcome));
    al_json_set(record->line, "duration_ms", al_json_int(al_clock_ms() - record->began_ms));
    if (end->changes)
        set_before_last(record->line, "changes", al_json_string(end->changes));
    if (json_array_size(end->overlaps))
        set_before_last(record->line, "overlaps", json_incref(end->overlaps));
    r = al_chain_append(&journal->chain, record->line, end->overlaps ? &record->seen : NULL, &err);
    if (r == AL_ERR_AGAIN)
        return r;
    /* Calls that only read, or that did nothing, do not wait for the disk. */
    if (r == 0 && al_effects_have_side_effects(end->effects) && strcmp(outcome, "refused") != 0 &&
        strcmp(outcome, "declined") != 0 && strcmp(outcome, "dry_run") != 0) {
        if (sync_later(&journal->later, record))
            return 0;
        r = al_chain_sync(&journal->chain, &err);
    }
    if (r < 0)
        al_log_warn("the journal cannot be written: %s", err.message);
    free_record(record, r == 0);
    return r;
}
