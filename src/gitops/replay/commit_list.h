// SPDX-License-Identifier: Apache-2.0
/*
 * The commits that a cherry-pick, a revert or a rebase is about, as full ids.
 *
 * Source: git-rev-list(1), git-rebase(1), "--reapply-cherry-picks".
 */
#ifndef AL_GITOPS_REPLAY_COMMIT_LIST_H
#define AL_GITOPS_REPLAY_COMMIT_LIST_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"
#include "util/str.h"

/** More commits than this are refused. */
#define AL_COMMIT_LIST_MAX 10000

/** Append the commits that a word names: one, or those of a range "A..B".
 *
 * @param newest_first  The order of a range. */
int al_commit_list_add(const struct al_repo *repo, const char *word, bool newest_first,
                       struct al_run_limits *budget, struct al_strv *out, struct al_error *err);

/** What `git rebase <onto>` replays. */
struct al_rebase_list {
    struct al_strv commits; /**< oldest first, without merges and without what `onto` has already */
    size_t merges;          /**< merges that are left out */
    size_t known;           /**< commits that are left out since `onto` has their change already */
};

void al_rebase_list_clear(struct al_rebase_list *list);

/** List the commits that are in HEAD and not in `onto`, oldest first.
 *
 * @param onto  A full id; NULL: all commits of HEAD.
 * @param all   Those whose change `onto` has already as well. */
int al_commit_list_rebase(const struct al_repo *repo, const char *onto, bool all,
                          struct al_run_limits *budget, struct al_rebase_list *ret_list,
                          struct al_error *err);

/** Append the full ids of commits whose ids may be abbreviated.  One git child. */
int al_commit_list_full(const struct al_repo *repo, const struct al_strv *words,
                        struct al_run_limits *budget, struct al_strv *out, struct al_error *err);

#endif
