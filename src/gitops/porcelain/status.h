// SPDX-License-Identifier: Apache-2.0
/* Run `git status`. */
#ifndef AL_GITOPS_PORCELAIN_STATUS_H
#define AL_GITOPS_PORCELAIN_STATUS_H

#include <stdbool.h>
#include <stdint.h>

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

/** Read the whole message of HEAD's commit, at most `max_bytes`. Caller frees. */
int al_git_read_message(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                        char **ret_message, struct al_error *err);

#endif
