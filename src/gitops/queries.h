// SPDX-License-Identifier: Apache-2.0
/*
 * What tools with structured results ask of git: facts instead of text.  Lists that may be long are
 * taken item by item, while git looks for the next: nothing is left to do for them when it ends.
 *
 * All of them run in `repo` and take their time from `budget`.  `max_bytes` bounds what is kept of
 * names and text; what was cut says so in its own `truncated`.
 */
#ifndef AL_GITOPS_QUERIES_H
#define AL_GITOPS_QUERIES_H

#include "gitops/porcelain.h"
#include "gitops/repo.h"
#include "gitops/verbs.h"

/** status.c: one git child.  `branch` is "HEAD" where HEAD is on none.  Caller clears `status`,
 * after a failure too; what was taken until a failure, here and below, counts for nothing. */
int al_git_read_status(const struct al_repo *repo, size_t max_bytes, struct al_budget *budget,
                       struct al_worktree *status, struct al_error *err);

/** log.c: what to list, newest first.  NULL strings are not given. */
struct al_commits_options {
    size_t limit;
    const char *author;        /**< part of a name or an address, no pattern */
    const char *since, *until; /**< dates as git reads them */
    const char *path;          /**< a word of an agent */
};

/** log.c: one git child.  A branch without commits has an empty history. */
int al_git_read_log(const struct al_repo *repo, const struct al_commits_options *options,
                    size_t max_bytes, struct al_budget *budget, struct al_commits *history,
                    struct al_error *err);

/** log.c: the whole message of HEAD's commit, at most `max_bytes` of it.  Caller frees. */
int al_git_read_message(const struct al_repo *repo, size_t max_bytes, struct al_budget *budget,
                        char **ret_message, struct al_error *err);

/** branch.c: the local branches, and with `remote` the remote-tracking ones.  One git child. */
int al_git_read_branches(const struct al_repo *repo, bool remote, size_t max_bytes,
                         struct al_budget *budget, struct al_branches *ret_branches,
                         struct al_error *err);

/** stash.c: the entries of the stash.  One git child at most. */
int al_git_read_stashes(const struct al_repo *repo, size_t max_bytes, struct al_budget *budget,
                        struct al_stashes *ret_stashes, struct al_error *err);

/** How many entries the stash has. */
int al_git_count_stashes(const struct al_repo *repo, struct al_budget *budget, uint64_t *ret_count,
                         struct al_error *err);

struct al_hunks;

/** patch.c: `git diff` as a patch; `name_only` and `stat` of the options do not count.  Its first
 * `max_bytes` are taken as they come, and its hunks->files counted in all of the diff.  One git
 * child, and a second for the count when the patch is cut. */
int al_git_read_diff(const struct al_repo *repo, const struct al_diff_options *options,
                     size_t max_bytes, struct al_budget *budget, struct al_hunks *hunks,
                     struct al_error *err);

#endif
