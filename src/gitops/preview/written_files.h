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
 * Each function is for the `changed_files` of a tool (tool/tool.h).
 *
 * Source: git's unpack-trees.c, entry.c, builtin/checkout.c, builtin/stash.c, builtin/merge.c.
 */
#ifndef AL_GITOPS_PREVIEW_WRITTEN_FILES_H
#define AL_GITOPS_PREVIEW_WRITTEN_FILES_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

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

/**
 * List the files of a merge of HEAD with a commit: those of the three-way merge (three_way.h), and
 * those that have local changes.  When a merge fails, for whatever reason, git resets them and
 * applies them again (restore_state() in builtin/merge.c): between the two they are only in an
 * object that nothing names.  So every tracked file is looked at, also those that the merge itself
 * leaves alone.  With several merge bases, or none, it is not known.
 *
 * @param target  The id of a commit.
 */
int al_git_merged_files(const struct al_repo *repo, const char *target,
                        struct al_run_limits *budget, bool *ret_known, struct al_strv *out,
                        struct al_error *err);

/** List the files of `git stash apply`.  @param entry  A revision such as "stash@{0}", or an id. */
int al_git_applied_files(const struct al_repo *repo, const char *entry,
                         struct al_run_limits *budget, bool *ret_known, struct al_strv *out,
                         struct al_error *err);

#endif
