// SPDX-License-Identifier: Apache-2.0
/*
 * The journal: one line of ASCII JSON for each tool call, hash-chained so that later edits are
 * detected.  Several servers share one journal.
 *
 *   when a call                 what is written
 *
 *   begins                      to the process's file in open/: the line as it will be if the call
 *                               never ends (al_journal_begin())
 *   ends                        to the log: the line, with `seq` and `prev`; to the open file: that
 *                               the call ended (al_journal_close_record())
 *   ended with its process      to the log, by the next process that opens the journal: the line,
 *                               with the outcome "interrupted" (al_journal_open())
 *
 * `prev` is the HMAC-SHA256 of the previous line under the key.  The head has the last sequence
 * number and HMAC.  So a changed, removed, moved or missing line is detected.
 *
 *   file                     content
 *
 *   <dir>/tool_log.jsonl     the log; `--audit FILE` names it, and the others are named after it
 *   <dir>/tool_log.head      see history/head.h
 *   <dir>/tool_log.key       the key, 0600
 *   <dir>/tool_log.N.jsonl   full logs, see history/history.h
 *   <dir>/open/              see history/open_records.h
 */
#ifndef AL_HISTORY_JOURNAL_H
#define AL_HISTORY_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"
#include "util/json.h"
#include "util/str.h"

struct al_journal;

/**
 * Open the journal.  Missing files are created, with the modes 0700 and 0600.
 *
 * @param file  Absolute path of the log.
 * @return 0 or AL_ERR_EXECUTION.  The caller decides whether to go on without a journal.
 * Threads: the journal may then be used from many threads.
 */
int al_journal_open(const char *file, struct al_journal **ret_journal, struct al_error *err);
void al_journal_free(struct al_journal *journal);

/** Set the size beyond which a file of the log must not grow; 64 MiB by default.  Call this before
 * several threads use the journal. */
void al_journal_limit(struct al_journal *journal, uint64_t max_file_bytes);

/** Synchronise the lines of calls in a thread from now on: closing a record does not wait for the
 * disk.  al_journal_free() waits for the thread.  Call this before several threads use the journal.
 */
void al_journal_sync_later(struct al_journal *journal);

/** The path of the log.  Borrowed. */
const char *al_journal_file(const struct al_journal *journal);

/** The id of this session, which lines have as `conversation_id`: the time when the journal was
 * opened as YYYYMMDD_HHMMSS, '-', six hexadecimal digits.  Borrowed. */
const char *al_journal_session_id(const struct al_journal *journal);

/** The `conversation_id` of one of several sessions over HTTP: that id, '.', the session's number.
 * Number 0 is the only session of a process, which has the id alone.  Caller frees. */
char *al_journal_conversation(const struct al_journal *journal, uint64_t number);

/** One call that is recorded.  The caller owns it until it is closed. */
struct al_record;

/** Longer arguments are cut, see history/input.h.  Measured as ASCII JSON. */
#define AL_JOURNAL_INPUT_MAX_BYTES (128u << 10)

/** Every line is shorter than this.  Result and summary are cut to 4 KiB before they are escaped,
 * and the kernel limits paths to the same length. */
#define AL_JOURNAL_RECORD_MAX_BYTES (256u << 10)

/** The facts about a call that begins.  Borrowed. */
struct al_record_begin {
    const char *tool;
    const char *agent; /**< the name of the agent that calls, safe text; NULL: none */
    uint64_t session;  /**< as for al_journal_conversation() */
    /** The arguments as received: an object, or NULL.  Secrets are removed here. */
    const json_t *input;
    /** Whether an argument is the name of a file, branch or revision.  Such a name is recorded even
     * if it looks like a secret.  `object` is the argument that `member` is in; NULL: `member` is
     * an argument itself.  No hook: no argument is a name. */
    bool (*is_name)(const void *payload, const char *object, const char *member);
    const void *payload;
};

/**
 * Record that a call began.
 * @return 0, or AL_ERR_EXECUTION when the journal cannot be written.
 */
int al_journal_begin(struct al_journal *journal, const struct al_record_begin *begin,
                     struct al_record **ret_record, struct al_error *err);

/** al_journal_begin() with a tool and its arguments only. */
int al_journal_open_record(struct al_journal *journal, const char *tool, const json_t *input,
                           struct al_record **ret_record, struct al_error *err);

/**
 * Check that the log is still where others read it.  Call this before a call changes anything.
 * @return 0 or AL_ERR_EXECUTION.
 */
int al_journal_check(struct al_journal *journal, struct al_error *err);

/** The facts about a call that has ended.  Borrowed.  NULL strings are written as null. */
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
    const char *git_commit;  /**< the checkpoint; NULL when there is none */
    bool success;
    /** The result's text or the error's message.  It is cut at 4 KiB. */
    const char *text;
    size_t text_len;
    int64_t duration_ms; /**< not negative */
};

/**
 * Record what is known so far: operation, effects, decision, repository, checkpoint.  It is part of
 * the line if this process dies, and al_journal_running() shows it.  Outcome, text and duration are
 * ignored.
 * @return 0 or AL_ERR_EXECUTION.
 */
int al_journal_update(struct al_record *record, const struct al_record_end *known,
                      struct al_error *err);

/**
 * al_journal_update() before a call changes anything.  What is known is on the disk when this
 * returns, so that even after a power failure the log has the checkpoint of an interrupted call.
 * @return 0, or AL_ERR_EXECUTION: then the call must not change anything.
 */
int al_journal_note(struct al_record *record, const struct al_record_end *known,
                    struct al_error *err);

/**
 * Write the line of a call that has ended, and free the record in every case.  If the call has side
 * effects, the line is on the disk when this returns.
 * @return 0 or AL_ERR_EXECUTION.  The open record then stays for the next process that opens the
 *         journal.
 */
int al_journal_close_record(struct al_journal *journal, struct al_record *record,
                            const struct al_record_end *end, struct al_error *err);

/** Receives a running call: its process and what is known of it, as the line it would have if it
 * never ended. */
typedef void al_journal_running_fn(void *payload, long pid, const json_t *call);

/** Report every call that is running, in any process.  0 or -errno.  No journal means no call. */
int al_journal_running(const char *file, al_journal_running_fn *found, void *payload);

/** Copy a value or a text with `[redacted]` in place of secrets: members whose name is on the
 * denylist for environment variables, user info in URLs, bearer tokens and GitHub tokens. */
json_t *al_redact_json(const json_t *value);
void al_redact_text(const char *text, size_t len, struct al_str *out);

/** Test whether al_redact_text() would change the text. */
bool al_redact_finds(const char *text, size_t len);

/** Test whether al_redact_json() would change the value. */
bool al_redact_has_secret(const json_t *value);

/** The result of al_journal_verify(). */
struct al_verdict {
    uint64_t lines;    /**< lines that are intact */
    uint64_t bad_line; /**< number of the first line that is not, from 1; 0 when all are */
    char *problem;     /**< what is wrong, owned; NULL when nothing is */
};

/** Check the chain of a journal.  0 when it could be read: *ret_verdict says whether it is intact.
 */
int al_journal_verify(const char *file, struct al_verdict *ret_verdict, struct al_error *err);

#endif
