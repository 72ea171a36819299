// SPDX-License-Identifier: Apache-2.0
/*
 * Running a git command.
 *
 *     al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
 *     al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
 *
 *     al_strv_adds(&command.argv, "git", "status", "--porcelain", NULL);
 *     r = al_git_run(&repo->at, &command,
 *                    &(struct al_git_run){ .max_bytes = max, .checked = true }, &output,
 *                    err);
 *
 * A git that may write is never stopped for its output: output beyond the cap is read and dropped.
 */
#ifndef AL_GIT_RUN_H
#define AL_GIT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "git/location.h"
#include "guard/text.h"
#include "proc/proc.h"

/** Everything that a git child is started with.  Borrows from the command. */
struct al_git_child {
    struct al_strv env;
    int ruleset_fd;
    struct al_confinement sandbox;
    struct al_proc_spec spec; /**< without its sinks and its sandbox */
};
#define AL_GIT_CHILD_INIT ((struct al_git_child){ .ruleset_fd = 0 })

/**
 * Prepare a git child.
 *
 * @return 0, or AL_ERR_EXECUTION: "git binary not available", or no ruleset could be built.
 */
int al_git_child_prepare(const struct al_location *at, const struct al_git_command *command,
                         struct al_git_child *ret_child, struct al_error *err);
void al_git_child_clear(struct al_git_child *child);

/** The sinks that append to a text.  NULL: what comes is dropped. */
struct al_sink al_git_sink(struct al_str *text);
struct al_sink al_git_text_sink(struct al_text *text);

/** Options of a run.  Zero-initialised: no output is kept, and any exit code is a success. */
struct al_git_run {
    size_t max_bytes;     /**< bytes to keep of each stream; at least 64 KiB for a git that writes,
                             since the output may tell the state of the repository */
    size_t max_err_bytes; /**< bytes to keep of standard error; 0: max_bytes */
    struct al_sink sink;  /**< gets standard output as it comes; then none of it is kept, and 64 KiB
                             of standard error */
    bool checked;         /**< a git that fails is an error, see al_git_failed() */
    unsigned locks;    /**< of enum al_git_locks: waited for before the command runs, and once more
                          if it fails on one of them.  Only for a command that has changed nothing
                          by then.  AL_LOCK_INDEX: for one that writes the index, with the write
                          lock held, which is not waited for before; `checked` then requires
                          al_git_wrote_all_files() */
    bool may_time_out; /**< the deadline is no error: the output so far is kept, `timed_out` is set
                          and the exit code is -1 */
};

/** The output of a git command, as safe text within a cap. */
struct al_git_output {
    struct al_text out, err;
    int exit_code;  /**< -1 when git was killed or stopped */
    int signal;     /**< that ended git; 0: none */
    bool stopped;   /**< git was stopped at the cap; never a git that may write */
    bool timed_out; /**< the deadline passed; see al_git_run.may_time_out */
};

void al_git_output_clear(struct al_git_output *output);

/** Test whether a git that reads succeeded: it exited with 0, or was stopped because no more output
 * was wanted.  The exit_code of a git that may write is compared with 0 instead. */
bool al_git_read_well(const struct al_git_output *output);

/**
 * Run a command.  The output is kept as safe text, with one character more than the cap if there
 * was more.
 *
 * @return 0; AL_ERR_TIMEOUT with the output so far as err->detail; AL_ERR_CANCELLED;
 *         AL_ERR_EXECUTION when git could not be started ("git binary not available"); other errors
 *         as the options say.
 */
int al_git_run(const struct al_location *at, const struct al_git_command *command,
               const struct al_git_run *options, struct al_git_output *ret_output,
               struct al_error *err);

/** Run a command and keep so many bytes of its output.  A git that fails is an error. */
int al_git_run_checked(const struct al_location *at, const struct al_git_command *command,
                       size_t max_bytes, struct al_git_output *ret_output, struct al_error *err);

/** Run a git that reads, and pass its output on.  A git that fails is an error; one that was
 * stopped because `sink` wanted no more is not. */
int al_git_read(const struct al_location *at, const struct al_git_command *command,
                struct al_sink sink, struct al_error *err);

/**
 * Run a command that writes, whose output nobody wants.  A git that fails is an error.
 *
 * @param locks  Of enum al_git_locks, to wait for, see struct al_git_run; AL_LOCK_INDEX: with the
 *               write lock held.
 */
int al_git_write(const struct al_location *at, struct al_git_command *command, unsigned locks,
                 struct al_error *err);

/** Ask a git that reads for so many bytes, in a time of its own.  False: it cannot be asked, or
 * exits with an error. */
bool al_git_ask(const struct al_location *at, const struct al_git_command *command,
                size_t max_bytes, struct al_git_output *ret_output);

/** Refresh the index: files may look changed by their times alone.  Those that have changed are no
 * error. */
int al_git_refresh_index(const struct al_location *at, struct al_error *err);

/* --- Deadline --- */

/* The deadline and the cancel token of a call, for work that airlock does itself. */

/** The deadline of a call while airlock works.  Set it up with al_deadline_begin(). */
struct al_deadline {
    struct al_run_limits *budget; /* borrowed; current for children after al_deadline_sync() */
    int64_t deadline_ms;
    uint32_t total_ms; /* the time at the beginning, for the message */
    unsigned steps;
};

/** Begin to count the time. */
struct al_deadline al_deadline_begin(struct al_run_limits *budget);

/** Subtract the time that passed from the budget; do this before a child is started. */
void al_deadline_sync(struct al_deadline *deadline);

/** Call it about once for each file.  0, AL_ERR_TIMEOUT or AL_ERR_CANCELLED.  Reads the clock every
 * 128 calls. */
int al_deadline_step(struct al_deadline *deadline, struct al_error *err);

/** 0, AL_ERR_TIMEOUT or AL_ERR_CANCELLED.  Reads the clock at once. */
int al_deadline_check(struct al_deadline *deadline, struct al_error *err);

/* --- Excerpt --- */

/* Output of git that a user decides by: an excerpt, or all of it. */

/** Bytes of a diff that are read for an excerpt: more than is shown, so that the number of further
 * lines is usually exact. */
#define AL_GIT_EXCERPT_MAX_BYTES (256u * 1024u)

/** The most bytes that are read when the whole text is wanted. */
#define AL_GIT_IN_FULL_MAX_BYTES (64u << 20)

/** The number of bytes to read: `wanted`, or AL_GIT_IN_FULL_MAX_BYTES with budget->in_full. */
size_t al_git_excerpt_bytes(const struct al_run_limits *budget, size_t wanted);

/** Append an excerpt, as al_text_add_excerpt() does; with budget->in_full the whole text, with
 * every control character shown. */
void al_git_add_excerpt(const struct al_run_limits *budget, const char *text, size_t len, bool more,
                        struct al_str *out);

#endif
