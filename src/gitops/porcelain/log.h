// SPDX-License-Identifier: Apache-2.0
/* `git log`. */
#ifndef AL_GITOPS_PORCELAIN_LOG_H
#define AL_GITOPS_PORCELAIN_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/porcelain/parse.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** The choices of git_log; NULL strings are not given. */
struct al_log_options {
    int64_t max_count; /**< 0: no limit */
    bool oneline;
    const char *format, *author, *since, *until, *grep, *path;
};

/** `git log`; a failing git is an error. */
int al_git_log(const struct al_repo *repo, const struct al_log_options *options, size_t max_bytes,
               struct al_run_limits *budget, struct al_git_output *ret_output,
               struct al_error *err);

/** What to list, newest first.  NULL strings are not given. */
struct al_commits_options {
    size_t limit;
    const char *author;        /**< part of a name or an address, no pattern */
    const char *since, *until; /**< dates as git reads them */
    const char *path;          /**< a word of an agent */
};

/** One git child.  A branch without commits has an empty history. */
int al_git_read_log(const struct al_repo *repo, const struct al_commits_options *options,
                    size_t max_bytes, struct al_run_limits *budget, struct al_commits *history,
                    struct al_error *err);

/** The whole message of HEAD's commit, at most `max_bytes` of it.  Caller frees. */
int al_git_read_message(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                        char **ret_message, struct al_error *err);

#endif
