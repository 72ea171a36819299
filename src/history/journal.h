// SPDX-License-Identifier: Apache-2.0
/*
 * The journal: one line of ASCII JSON for each tool call, hash-chained so that later edits are
 * detected.  Several servers share one journal.
 *
 *   when a call                 what is written
 *
 *   begins                      to the process's file in open/: the line as it will be if the call
 *                               never ends (al_record_open())
 *   ends                        to the log: the line, with `seq` and `prev`; to the open file: that
 *                               the call ended (al_record_close())
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
 *   <dir>/tool_log.N.jsonl   full logs, numbered from 1.  The chain continues from one file to the
 *                            next, and no file is ever removed
 *   <dir>/open/              the running calls, see open_records.c
 */
#ifndef AL_HISTORY_JOURNAL_H
#define AL_HISTORY_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

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

/** The id of a session, which lines have as `conversation_id`: the time when the journal was opened
 * as YYYYMMDD_HHMMSS, '-', six hexadecimal digits; for one of several sessions over HTTP also '.'
 * and the session's number.  Number 0 is the only session of a process.  Caller frees. */
char *al_journal_conversation(const struct al_journal *journal, uint64_t number);

/** Test whether a line can have this as the id of a client's session or call: at most 128 letters,
 * digits, '.', '_', ':' and '-'.  NULL is none. */
bool al_journal_is_id(const char *id);

/** Record the calls of session number 0 as those of a client's session, which other processes have
 * calls of too.  Call this before the first call; what is said later, or is no id, does not count.
 *
 * @param clients  Files with the sessions that a client was in so far: the last one of the file
 *                 that has this one takes its place, at the time of a call.  NULL: none.
 */
void al_journal_join(struct al_journal *journal, const char *id, const struct al_strv *clients);

/**
 * Check that the log is still where others read it.  Call this before a call changes anything.
 * @return 0 or AL_ERR_EXECUTION.
 */
int al_journal_check(struct al_journal *journal, struct al_error *err);

/** One call that is recorded.  The caller owns it until it is closed.  NULL is a call without a
 * record: nothing is written, and it may not change anything. */
struct al_record;

/** Every line is shorter than this.  Result and summary are cut to 4 KiB before they are escaped,
 * and the kernel limits paths to the same length. */
#define AL_JOURNAL_RECORD_MAX_BYTES (256u << 10)

/** The operation of an execution that a client runs itself. */
#define AL_HELD_OPERATION "hook"

/** The facts about a call that begins.  Borrowed. */
struct al_record_begin {
    const char *tool;
    const char *agent;           /**< the name of the agent that calls, safe text; NULL: none */
    uint64_t session;            /**< as for al_journal_conversation() */
    const char *call_id, *label; /**< the client's id of the call; the name that the user gave it;
                                    NULL: none */
    /** The arguments as received: an object, or NULL.  Secrets are removed here. */
    const json_t *input;
    const struct al_redact_names *names; /**< may be NULL */
};

/**
 * Record that a call began.  There is no record without a journal.
 * @return 0, or AL_ERR_EXECUTION when the journal cannot be written.
 */
int al_record_open(struct al_journal *journal, const struct al_record_begin *begin,
                   struct al_record **ret_record, struct al_error *err);

/** The facts about a call.  Borrowed.  NULL strings are written as null. */
struct al_record_end {
    const char *operation;   /**< NULL when none was chosen */
    unsigned effects;        /**< enum al_effects */
    const char *decision;    /**< auto once always rule none rejected */
    const char *decided_by;  /**< policy elicitation terminal review none */
    const char *summary;     /**< the approval summary; NULL when there is none */
    const char *root;        /**< any bytes, as in a file system */
    const char *repository;  /**< the same */
    const char *confinement; /**< "landlock7+seccomp", "none", … */
    const char *git_commit;  /**< the checkpoint; NULL when there is none */
    /* The rest is known when it has ended. */
    int status;       /**< 0 or an enum al_status */
    bool dry_run;     /**< it succeeded and changed nothing, as asked */
    bool interrupted; /**< it succeeded, and its end was not seen */
    /** The result's text or the error's message.  It is cut at 4 KiB. */
    const char *text;
    size_t text_len;
    json_t *overlaps;    /**< numbers of the executions that ended meanwhile in the same working
                                  tree, if one of the two held no lock; NULL: not told */
    const char *changes; /**< "12 files changed, 3 added"; NULL: it is not told, or nothing */
};

/**
 * Record what is known so far.  It is part of the line if this process dies, and
 * al_journal_running() shows it.
 *
 * @param durable  It is on the disk when this returns, so that even after a power failure the log
 *                 has the checkpoint of an interrupted call.
 * @return 0 or AL_ERR_EXECUTION: then the call must not change anything.
 */
int al_record_update(struct al_record *record, const struct al_record_end *known, bool durable,
                     struct al_error *err);

/** The number of the line up to which nothing ended while an execution ran: at first the last one
 * when its checkpoint was recorded.  0: it has none. */
uint64_t al_record_seen(const struct al_record *record);

/** Let a program that is started next keep the call among those that run, even if this process dies
 * before it does. */
void al_record_share(const struct al_record *record);

/** Test whether others could change the working tree while the execution of a line ran. */
bool al_journal_held_no_lock(const json_t *line);

/**
 * Write the line of a call that has ended, and free the record.  The line of a call with side
 * effects is on the disk when this returns, see al_journal_sync_later().
 * @return 0; AL_ERR_EXECUTION, with a warning: the call has happened.  The open record then stays
 *         for the next process that opens the journal.  AL_ERR_AGAIN with `overlaps`, and nothing
 *         is done: more has ended since al_record_seen(), which is moved on.
 */
int al_record_close(struct al_record *record, const struct al_record_end *end);

/* --- The calls that run --- */

/** Receives a running call: its process and what is known of it, as the line it would have if it
 * never ended. */
typedef void al_journal_running_fn(void *payload, long pid, const json_t *call);

/** Report every call that is running, in any process.  0 or -errno.  No journal means no call. */
int al_journal_running(const char *file, al_journal_running_fn *found, void *payload);

/** A call that runs in the working tree `top`: "git_commit of agent x (process 4711)".  NULL: there
 * is none.  Safe text.  Caller frees. */
char *al_journal_running_in(const char *file, const char *top);

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

/** airlock never writes a longer line: a message has at most 10 MiB. */
#define AL_JOURNAL_LINE_MAX_BYTES (64u << 20)

/** The lines of a journal, oldest first, and where they are read.  Set up with AL_HISTORY_INIT. */
struct al_history {
    const char *file;   /* borrowed */
    uint64_t index;     /**< the file that is read next: full logs from 0 on, then the log */
    uint64_t last;      /**< of the log */
    uint64_t size;      /**< of the log, in bytes */
    bool follow;        /**< read what is appended later, too */
    bool is_torn;       /**< a full log that was read ended in a partial line */
    int fd;             /* of the file that is read; -1: it is not open yet */
    uint64_t at, limit; /* offset of the next byte to read, and where to stop */
    struct al_str buf;
    size_t begin; /* offset in buf of the next line */
};

#define AL_HISTORY_INIT ((struct al_history){ .fd = -1, .buf = AL_STR_INIT })

/** Find the files of the journal `file` while no line is appended.  0, also when there is no
 * journal; or -errno. */
int al_history_open(const char *file, struct al_history *ret_history);
void al_history_clear(struct al_history *history);

/** Leave out what is so many bytes before the end, before the first line is read.  Tests whether
 * there is something. */
bool al_history_skip_old(struct al_history *history, uint64_t max_bytes);

/**
 * The next line, with a NUL in place of its newline.  Borrowed until the next call.
 *
 * @return 1; 0 at the end, where a later call finds what was appended since if that is followed;
 *         -errno; -EFBIG for a line over AL_JOURNAL_LINE_MAX_BYTES.
 */
int al_history_next(struct al_history *history, const char **ret_line, size_t *ret_len);

#endif
