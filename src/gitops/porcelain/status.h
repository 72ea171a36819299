// SPDX-License-Identifier: Apache-2.0
/* Run `git status`. */
#ifndef AL_GITOPS_PORCELAIN_STATUS_H
#define AL_GITOPS_PORCELAIN_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/porcelain/parse.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** Options of `git status`. */
struct al_status_options {
    bool porcelain, branch, untracked;
};

/** Run `git status`. A non-zero exit code is an error. */
int al_git_status(const struct al_repo *repo, const struct al_status_options *options,
                  size_t max_bytes, struct al_run_limits *budget, struct al_git_output *ret_output,
                  struct al_error *err);

/**
 * Read the status with one git child.  `branch` is "HEAD" when HEAD is on no branch.  The caller
 * clears `status`, after a failure too; names that were passed before a failure must be ignored.
 */
int al_git_read_status(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                       struct al_worktree *status, struct al_error *err);

/* --- Blame --- */

/* Run `git blame`. */

/** Options of `git blame`. A line of 0 means not given. */
struct al_blame_options {
    const char *path, *commit;
    int64_t start_line, end_line;
};

/** Run `git blame`. A non-zero exit code is an error. */
int al_git_blame(const struct al_repo *repo, const struct al_blame_options *options,
                 size_t max_bytes, struct al_run_limits *budget, struct al_git_output *ret_output,
                 struct al_error *err);

/* --- Show --- */

/* Run `git show`. */

/** Options of `git show`. */
struct al_show_options {
    const char *commit;
    bool stat, name_only;
    const char *format;
};

/** Run `git show`. A non-zero exit code is an error. */
int al_git_show(const struct al_repo *repo, const struct al_show_options *options, size_t max_bytes,
                struct al_run_limits *budget, struct al_git_output *ret_output,
                struct al_error *err);

/* --- Log --- */

/* Run `git log`. */

/** Options of `git log`. A NULL string means not given. */
struct al_log_options {
    int64_t max_count; /**< 0: no limit */
    bool oneline;
    const char *format, *author, *since, *until, *grep, *path;
};

/** Run `git log`. A non-zero exit code is an error. */
int al_git_log(const struct al_repo *repo, const struct al_log_options *options, size_t max_bytes,
               struct al_run_limits *budget, struct al_git_output *ret_output,
               struct al_error *err);

/** Which commits to list, newest first. A NULL string means not given. */
struct al_commits_options {
    size_t limit;
    const char *author;        /**< part of a name or an address; not a pattern */
    const char *since, *until; /**< dates as git reads them */
    const char *path;          /**< path as the agent wrote it */
};

/** Read commits with one git child. An unborn branch has an empty history. */
int al_git_read_log(const struct al_repo *repo, const struct al_commits_options *options,
                    size_t max_bytes, struct al_run_limits *budget, struct al_commits *history,
                    struct al_error *err);

/** Read the whole message of HEAD's commit, at most `max_bytes`. Caller frees. */
int al_git_read_message(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                        char **ret_message, struct al_error *err);

#endif
