// SPDX-License-Identifier: Apache-2.0
/* A git that failed, as an error. */
#ifndef AL_GIT_FAILURE_H
#define AL_GIT_FAILURE_H

#include "git/command.h"
#include "git/run.h"
#include <stdbool.h>

/** "git binary not available": AL_ERR_EXECUTION with AL_CODE_NO_GIT. */
int al_git_not_available(struct al_error *err);

/** Turn a failed output into an error: git's standard error, else its output, else the
 * exit code.
 */
int al_git_failed(const struct al_git_output *output, struct al_error *err);

/** The error of a git that is not run since it would say this: reason and code as with
 * al_git_failed(). */
int al_git_would_fail(struct al_error *err, const char *fmt, ...) al_printf(2, 3);

/** The lock among `locks` (enum al_git_locks) that another process held, so that git failed; 0: git
 * did not fail for that reason. */
unsigned al_git_failed_on_lock(const struct al_location *at, unsigned locks,
                               const struct al_git_output *output);

/** Test whether a git that writes files wrote all of them.  A git that has no content for a file,
 * or cannot write it, prints an error, goes on and may exit with 0. */
bool al_git_wrote_all_files(const struct al_git_output *output);

/** The error of a commit without user.name or user.email. */
int al_git_no_identity(struct al_error *err);

/** Test whether git ran and exited with an error, as it does for a revision that does not exist.
 * `r` and `budget` are those of the run.  Any other failure must not be taken for an empty list. */
bool al_git_exited_with_error(int r, const struct al_run_limits *budget);

/** The remedy for an object that a partial clone lacks. */
extern const char al_not_downloaded[];

#endif
