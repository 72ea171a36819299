// SPDX-License-Identifier: Apache-2.0
/*
 * Running a git command.
 *
 *     al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
 *     al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
 *
 *     al_strv_adds(&command.argv, "git", "status", "--porcelain", NULL);
 *     r = al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = max, .checked = true
 * }, budget, &output, err);
 *
 * A git that may write is never stopped for its output: what is beyond the cap is read and dropped.
 */
#ifndef AL_GITOPS_RUN_H
#define AL_GITOPS_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/command.h"
#include "gitops/location.h"
#include "guard/text.h"
#include "proc/proc.h"
#include "util/error.h"

/** How to run a command; the zero-initialised one keeps no output and takes any exit code. */
struct al_git_run {
    size_t max_bytes; /**< of each stream to keep; of a git that writes at least 64 KiB are kept,
                           since what became of the repository may stand in them */
    size_t max_err_bytes; /**< of standard error, where its cap is another one; 0: max_bytes */
    struct al_sink sink;  /**< gets standard output as it comes; then none of it is kept, and 64 KiB
                               of standard error are */
    bool checked;         /**< a git that fails is an error, see al_git_failed() */
    bool waits_for_lock;  /**< for a command that writes the index, with the write lock held: when
                               a foreign index.lock got in between, wait for it and run again.  With
                               `checked` also what git did by halves fails, see
                             al_git_wrote_all_files() */
    bool may_time_out;    /**< the deadline is an outcome: the output holds what came until then,
                               `timed_out` is set and the exit code is -1 */
};

/** What a git command said, as safe text within a cap. */
struct al_git_output {
    struct al_text out, err;
    int exit_code;  /**< -1 when a signal ended it, or when stopped */
    bool stopped;   /**< the cap was reached and git was stopped; never one that may write */
    bool timed_out; /**< the deadline passed; see al_git_run.may_time_out */
};

void al_git_output_clear(struct al_git_output *output);

/** Whether a git that reads did what it was asked: it says so, or no more of it was wanted.  One
 * that may write did when its exit code is 0, and not when it was stopped. */
bool al_git_read_well(const struct al_git_output *output);

/**
 * Run a command.  Its output is kept as safe text; one character more than the cap tells that there
 * was more.
 *
 * @param budget  The time the child ran is taken off budget->left_ms.
 * @return 0; AL_ERR_TIMEOUT with what came until then as err->detail; AL_ERR_CANCELLED;
 *         AL_ERR_EXECUTION when git could not be started ("git binary not available"), and as the
 *         options have it.
 */
int al_git_run(const struct al_location *at, const struct al_git_command *command,
               const struct al_git_run *options, struct al_run_limits *budget,
               struct al_git_output *ret_output, struct al_error *err);

#endif
