// SPDX-License-Identifier: Apache-2.0
/* `git stash`. */
#ifndef AL_GITOPS_PORCELAIN_STASH_H
#define AL_GITOPS_PORCELAIN_STASH_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/porcelain/parse.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** What to do with the stash, beside list and show. */
enum al_stash_action {
    AL_STASH_PUSH,
    AL_STASH_POP,
    AL_STASH_APPLY,
    AL_STASH_DROP,
    AL_STASH_CLEAR,
};

/** The choices of git_stash; `message` and `include_untracked` count with AL_STASH_PUSH. */
struct al_stash_options {
    enum al_stash_action action;
    const char *message;
    bool include_untracked;
    int64_t index;
};

/** `git stash list`, its bytes without its child processes. */
int al_git_stash_list(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err);
int al_git_stash_show(const struct al_repo *repo, int64_t index, size_t max_bytes,
                      struct al_run_limits *budget, struct al_git_output *ret_output,
                      struct al_error *err);

/** What can be refused before anyone is asked: no entries, filters, merge drivers. */
int al_git_stash_check(const struct al_repo *repo, const struct al_stash_options *options,
                       struct al_run_limits *budget, struct al_error *err);

/** `git stash push|pop|apply|drop|clear`; a failing git is an error, a conflict says so. */
int al_git_stash(struct al_repo *repo, const struct al_stash_options *options, size_t max_bytes,
                 struct al_run_limits *budget, struct al_git_output *ret_output,
                 struct al_error *err);

/** The entries of the stash.  One git child at most. */
int al_git_read_stashes(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                        struct al_stashes *ret_stashes, struct al_error *err);

/** How many entries the stash has. */
int al_git_count_stashes(const struct al_repo *repo, struct al_run_limits *budget,
                         uint64_t *ret_count, struct al_error *err);

#endif
