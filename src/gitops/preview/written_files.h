// SPDX-License-Identifier: Apache-2.0
/*
 * Which files of the working tree a git command can write or remove, for its checkpoints.
 *
 * Each function lists a superset, as absolute paths, and is called right before the command, with
 * the repository's write lock held.  It answers "not known" for a repository where git's changes do
 * not follow from the index and from trees: no index, no commit, entries that are marked as
 * unchanged or as not in the working tree, a split or a sparse index, a sparse checkout.  Then, and
 * for a command that git itself will refuse, the checkpoint has the whole tree.
 *
 * Each function is for the `changed_files` of a tool (tool/tool.h); those of a merge are in
 * replay/merge_guard.h.
 *
 * Source: git's unpack-trees.c, entry.c, builtin/checkout.c.
 */
#ifndef AL_GITOPS_PREVIEW_WRITTEN_FILES_H
#define AL_GITOPS_PREVIEW_WRITTEN_FILES_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** Test whether git's changes follow from the index and from trees. */
bool al_git_index_tells(const struct al_repo *repo);

/**
 * List the files of a switch from HEAD's commit that keeps local changes: those that differ between
 * the two commits.  Everything else stays as it is, changed or not.
 *
 * @param target  The id of a commit.
 * @param[out] ret_known  False: it cannot be told, and nothing is appended.
 */
int al_git_switched_files(const struct al_repo *repo, const char *target,
                          struct al_run_limits *budget, bool *ret_known, struct al_strv *out,
                          struct al_error *err);

/**
 * List the files of a command that makes index and files those of a commit, as `git reset --hard`:
 * those that differ between the commit and the index, and those whose stat data differ from the
 * index.
 *
 * @param target     A commit or a tree, as git accepts it.
 * @param paths      Only these paths of the call; NULL or empty: all.
 * @param untracked  The command removes untracked files, too, as `git stash push -u`.
 */
int al_git_reset_files(const struct al_repo *repo, const char *target, const struct al_strv *paths,
                       bool untracked, struct al_run_limits *budget, bool *ret_known,
                       struct al_strv *out, struct al_error *err);

#endif
