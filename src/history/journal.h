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
 *   <dir>/tool_log.head      where the chain ends
 *   <dir>/tool_log.key       the key, 0600
 *   <dir>/tool_log.N.jsonl   full logs; N is the `seq` of its last line.  The chain continues from
 * one file to the next, and no file is ever removed <dir>/open/              the running calls, see
 * open_records.c
 */
#ifndef AL_HISTORY_JOURNAL_H
#define AL_HISTORY_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"
#include "util/json.h"
#include "util/str.h"

struct al_journal;
struct al_redact_names;

/**
 * Open the journal.  Missing files are created, with the modes 0700 and 0600.
 *
 * @param file  Absolute path of the log.
 * @return 0 or AL_ERR_EXECUTION.  The caller decides whether to go on without a journal.
 * Threads: the journal may then be used from many threads.
 */
int al_journal_open(const char *file, struct al_journal **ret_journal, struct al_error *err);
void al_journal_free(struct al_journal *journal);

/** The size at which a file of the log is full, unless al_journal_limit() sets another. */
#define AL_JOURNAL_FILE_MAX_BYTES (64u << 20)

/** Set the size beyond which a file of the log must not grow.  Call this before
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

/** Longer arguments are cut, see docs/JOURNAL.md.  Measured as ASCII JSON. */
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
    const struct al_redact_names *names; /**< may be NULL */
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
    const char *operation;   /**< NULL when none was chosen */
    unsigned effects;        /**< enum al_effects */
    const char *outcome;     /**< ok error refused declined timeout cancelled interrupted dry_run */
    const char *decision;    /**< auto once always rule none rejected */
    const char *decided_by;  /**< policy elicitation terminal review none */
    const char *summary;     /**< the approval summary; NULL when there is none */
    const char *root;        /**< any bytes, as in a file system */
    const char *repository;  /**< the same */
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

/* --- An execution and its record, which is opened first and closed last --- */

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

/* --- The calls that run --- */

/** Receives a running call: its process and what is known of it, as the line it would have if it
 * never ended. */
typedef void al_journal_running_fn(void *payload, long pid, const json_t *call);

/** Report every call that is running, in any process.  0 or -errno.  No journal means no call. */
int al_journal_running(const char *file, al_journal_running_fn *found, void *payload);

/* --- Reading --- */

/** The result of al_journal_verify(). */
struct al_verdict {
    uint64_t lines;    /**< lines that are intact */
    uint64_t bad_line; /**< number of the first line that is not, from 1; 0 when all are */
    char *problem;     /**< what is wrong, owned; NULL when nothing is */
};

/** Check the chain of a journal.  0 when it could be read: *ret_verdict says whether it is intact.
 */
int al_journal_verify(const char *file, struct al_verdict *ret_verdict, struct al_error *err);

/** The path in a member of a line, with its exact bytes: a line has it as al_utf8_escape() writes
 * it. NULL when there is none.  Caller frees. */
char *al_journal_path(const json_t *line, const char *member);

/** Test whether a line is about this repository. */
bool al_journal_is_about(const json_t *line, const char *repository);

/** The files of a journal at one moment.  Set up with AL_HISTORY_INIT. */
struct al_history {
    struct al_strv rotated; /**< paths of the full logs, oldest first */
    int log_fd;             /**< the current file; -1 when there is none */
    uint64_t size;          /**< of the current file, in bytes */
};

#define AL_HISTORY_INIT ((struct al_history){ .rotated = AL_STRV_INIT, .log_fd = -1 })

/** Find the files of the journal `file` while no line is appended.  0, also when there is no
 * journal; or -errno. */
int al_history_open(const char *file, struct al_history *ret_history);
void al_history_clear(struct al_history *history);

/** The number of files, including the current one; and a descriptor of one of them, oldest first,
 * or -errno.  The caller closes the descriptor. */
size_t al_history_count(const struct al_history *history);
int al_history_file(const struct al_history *history, size_t index);

/** Test whether nothing was ever recorded. */
bool al_history_is_empty(const struct al_history *history);

/** airlock never writes a longer line: a message has at most 10 MiB. */
#define AL_JOURNAL_LINE_MAX_BYTES (64u << 20)

/** A position in a log.  Set up with AL_LINES_INIT. */
struct al_lines {
    int fd;         /* borrowed; its file offset is not used */
    uint64_t at;    /* offset of the next byte to read */
    uint64_t limit; /* nothing at or beyond this offset is read */
    struct al_str buf;
    size_t begin; /* offset in buf of the next line */
};

#define AL_LINES_INIT(descriptor, from)                                                            \
    ((struct al_lines){ .fd = (descriptor), .at = (from), .limit = UINT64_MAX, .buf = AL_STR_INIT })

void al_lines_clear(struct al_lines *lines);

/**
 * The next line, with a NUL in place of its newline.  Borrowed until the next call.
 *
 * @return 1; 0 at the end, where a later call finds what was appended since; -errno; -EFBIG for a
 *         line over AL_JOURNAL_LINE_MAX_BYTES.
 */
int al_lines_next(struct al_lines *lines, const char **ret_line, size_t *ret_len);

/** A position in a journal.  Set up with al_tail_start(). */
struct al_tail {
    const char *file; /* borrowed */
    struct al_lines lines;
    int fd; /* the file being read; -1 while there is none */
};

/** Begin with file `index` of a history.  0 or -errno. */
int al_tail_start(struct al_tail *tail, const char *file, const struct al_history *history,
                  size_t index);
void al_tail_clear(struct al_tail *tail);

/**
 * The next line, with a NUL in place of its newline.  Borrowed until the next call.
 *
 * @return 1; 0 at the end, where a later call finds what was appended since; -errno; -EFBIG for a
 *         line over AL_JOURNAL_LINE_MAX_BYTES.
 */
int al_tail_next(struct al_tail *tail, const char **ret_line, size_t *ret_len);

#endif
