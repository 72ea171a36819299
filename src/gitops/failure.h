// SPDX-License-Identifier: Apache-2.0
/* What a git that failed said, as an error. */
#ifndef AL_GITOPS_FAILURE_H
#define AL_GITOPS_FAILURE_H

#include "gitops/command.h"
#include "gitops/run.h"
#include <stdbool.h>

/** "git binary not available": AL_ERR_EXECUTION with AL_CODE_NO_GIT. */
int al_git_not_available(struct al_error *err);

/** Turn a failed output into an error: git's standard error, else its output, else the
 * exit code.
 */
int al_git_failed(const struct al_git_output *output, struct al_error *err);

/** True when git failed because somebody else's index.lock was there. */
bool al_git_failed_on_index_lock(const struct al_location *at, const struct al_git_output *output);

/** Whether a git that writes files wrote all of them.  One that had no content for a file, or could
 * not write it, says so, goes on, and may end with 0 all the same. */
bool al_git_wrote_all_files(const struct al_git_output *output);

/** The failure of a commit for want of a name and an address. */
int al_git_no_identity(struct al_error *err);

/** Whether git itself failed, as it does about a revision that is not there: `r` and the budget of
 * one of the lists below.  Everything else that goes wrong must not be taken for an empty list. */
bool al_git_exited_with_error(int r, const struct al_run_limits *budget);

/** What helps where an object was not downloaded. */
extern const char al_not_downloaded[];

#endif
