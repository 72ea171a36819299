// SPDX-License-Identifier: Apache-2.0
/*
 * The record: one line of ASCII JSON per tool execution, chained so that it cannot be changed
 * unseen.
 *
 * al_journal_begin() writes to the process's file in `open/`, beside the log, the line as it is if
 * the call never ends; al_journal_close_record() takes the lock on the head file, gives the line
 * its `seq` and `prev`, appends it with one write, and notes in the open file that the call ended.
 * Several servers share one journal.  `prev` is the HMAC-SHA256 of the previous line under
 * `tool_log.key` (0600), `tool_log.head` keeps the last sequence number and HMAC, so a changed,
 * removed, reordered or dropped line shows.  Opening a journal writes the line, with the outcome
 * "interrupted", of every call whose process died.
 *
 * Files: <dir>/tool_log.jsonl, <dir>/tool_log.head, <dir>/tool_log.key, <dir>/open/ where <dir> is
 * that of the configured file (`--audit FILE` names the log; head and key take its name without
 * ".jsonl"), full logs as journal/history.h names them, and the files in open/ as
 * journal/open_records.h does.
 */
#ifndef AL_JOURNAL_JOURNAL_H
#define AL_JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"
#include "util/json.h"
#include "util/str.h"

struct al_journal;

/**
 * Open (and create, 0700/0600) the journal.
 *
 * @param file  Absolute path of the log.
 * @return 0 or AL_ERR_EXECUTION; the caller decides whether to go on without one.
 * Threads: the journal may then be used from many threads at once.
 */
int al_journal_open(const char *file, struct al_journal **ret_journal, struct al_error *err);
void al_journal_free(struct al_journal *journal);

/** Begin a new file of the log before this one grows beyond so many bytes (64 MiB unless this is
 * called).  Before the journal is used from several threads. */
void al_journal_limit(struct al_journal *journal, uint64_t max_file_bytes);

/** The conversation id: the start in YYYYMMDD_HHMMSS, '-', six hex digits.  Borrowed. */
const char *al_journal_conversation(const struct al_journal *journal);

/** One execution.  Owned by the caller between open and close. */
struct al_record;

/** Arguments are cut to this, as ASCII JSON; journal/input.h says how. */
#define AL_JOURNAL_INPUT_MAX_BYTES (128u << 10)

/** And a whole line is shorter than this: result and summary are cut to 4 KiB before their
 * characters are escaped, and so is a path by the kernel. */
#define AL_JOURNAL_RECORD_MAX_BYTES (256u << 10)

/** What is known when a call begins.  Borrowed. */
struct al_record_begin {
    const char *tool;
    const json_t *input; /**< the arguments as they came: an object, or NULL; redacted here */
    /** Whether a member of the arguments names a file, a branch or a revision, which is recorded
     * even if it looks like a secret; NULL: none does. */
    bool (*is_name)(const void *payload, const char *member);
    const void *payload;
};

/**
 * Stage 1: note that a call began.
 * @return 0 or AL_ERR_EXECUTION when the journal cannot be written.
 */
int al_journal_begin(struct al_journal *journal, const struct al_record_begin *begin,
                     struct al_record **ret_record, struct al_error *err);

/** The same with a tool and its arguments alone. */
int al_journal_open_record(struct al_journal *journal, const char *tool, const json_t *input,
                           struct al_record **ret_record, struct al_error *err);

/**
 * Before a call does something that its line has to tell of: whether the log is still where others
 * read it.
 * @return 0 or AL_ERR_EXECUTION.
 */
int al_journal_check(struct al_journal *journal, struct al_error *err);

/** What is known when a call has ended.  Borrowed; NULL strings are written as null. */
struct al_record_end {
    const char *operation;  /**< NULL when none was chosen */
    unsigned effects;       /**< enum al_effects */
    const char *outcome;    /**< ok error refused declined timeout cancelled interrupted dry_run */
    const char *decision;   /**< auto once always rule none rejected */
    const char *decided_by; /**< policy elicitation terminal review none */
    const char *summary;    /**< the approval summary; NULL when there is none */
    const char *root;
    const char *repository;
    const char *confinement; /**< "landlock7+seccomp", "none", … */
    const char *git_commit;  /**< the checkpoint; NULL */
    bool success;
    const char *text; /**< the result's text or the error's message; cut at 4 KiB */
    size_t text_len;
    int64_t duration_ms; /**< not negative */
};

/**
 * Keep what is known by now (operation, effects, decision, places, checkpoint) for the line that is
 * written if this process dies, and for al_journal_running().  Outcome, text and duration do not
 * count.
 * @return 0 or AL_ERR_EXECUTION.
 */
int al_journal_update(struct al_record *record, const struct al_record_end *known,
                      struct al_error *err);

/**
 * The same before anything is changed: it is on the disk when this returns, so that a loss of power
 * does not hide which checkpoint was taken before what follows.
 * @return 0 or AL_ERR_EXECUTION: then nothing may be changed.
 */
int al_journal_note(struct al_record *record, const struct al_record_end *known,
                    struct al_error *err);

/**
 * Stage 9: write the line.  That of a call with side effects is on the disk when this returns.
 * Frees the record in every case.
 * @return 0 or AL_ERR_EXECUTION (the open file then stays, so that the gap shows).
 */
int al_journal_close_record(struct al_journal *journal, struct al_record *record,
                            const struct al_record_end *end, struct al_error *err);

/** A call that runs: what is known of it, as its line in the log if it never ends, with the
 * process `pid`. */
typedef void al_journal_running_fn(void *payload, long pid, const json_t *call);

/** Hand over each call that runs now, in any process.  0 or -errno; no journal has none. */
int al_journal_running(const char *file, al_journal_running_fn *found, void *payload);

/** `[redacted]` for values whose member name is on the environment denylist, user info in URLs,
 * bearer and GitHub tokens by form.  Returns a new value. */
json_t *al_redact_json(const json_t *value);
void al_redact_text(const char *text, size_t len, struct al_str *out);

/** Whether al_redact_text() would change the text. */
bool al_redact_finds(const char *text, size_t len);

/** Whether al_redact_json() would change the value. */
bool al_redact_has_secret(const json_t *value);

/** What al_journal_verify() found. */
struct al_verdict {
    uint64_t lines;    /**< lines that are in order */
    uint64_t bad_line; /**< number of the first line that is not (1-based), 0 when all are */
    char *problem;     /**< what is wrong, owned; NULL when nothing is */
};

/** Check the chain of a journal.  0 when it was read (look at *ret_verdict), else an error. */
int al_journal_verify(const char *file, struct al_verdict *ret_verdict, struct al_error *err);

#endif
