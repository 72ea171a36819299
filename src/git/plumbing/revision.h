// SPDX-License-Identifier: Apache-2.0
/*
 * The object that a word names.
 *
 * Source: gitrevisions(7), git-rev-parse(1).
 */
#ifndef AL_GIT_PLUMBING_REVISION_H
#define AL_GIT_PLUMBING_REVISION_H

#include "git/command.h"
#include "git/repo/repo.h"

/** For `git -c` where a user decides by the history.  A commit-graph is a file that anybody could
 * have written, and git trusts it about the parents of commits. */
#define AL_NO_COMMIT_GRAPH "core.commitGraph=false"

/** Run a command that prints one word.  *ret_word is NULL when git exits with an error.  Caller
 * frees. */
int al_git_run_word(const struct al_repo *repo, struct al_git_command *command, char **ret_word,
                    struct al_error *err);

/** The id of the object that a word names; `type` is "commit", "tree" or "object", though of
 * ":/text" it is always the commit.  *ret_oid is NULL when it names none.  Caller frees. */
int al_git_find_object(const struct al_repo *repo, const char *word, const char *type,
                       char **ret_oid, struct al_error *err);

/**
 * The commit that a word names.
 *
 * @return 0, or AL_ERR_EXECUTION with AL_CODE_BRANCH_NOT_FOUND.  Caller frees *ret_oid.
 */
int al_git_resolve_commit(const struct al_repo *repo, const char *word, char **ret_oid,
                          struct al_error *err);

/** The same for a word that means a branch, if there is one of this name: a tag of the name does
 * not win. */
int al_git_resolve_branch(const struct al_repo *repo, const char *word, char **ret_oid,
                          struct al_error *err);

/** The best merge base of two commits; *ret_base is NULL for unrelated histories.  Caller frees. */
int al_git_merge_base(const struct al_repo *repo, const char *one, const char *other,
                      char **ret_base, struct al_error *err);

/** How many commits `ours` and `theirs` have that the other one has not. */
int al_git_count_apart(const struct al_repo *repo, const char *ours, const char *theirs,
                       size_t *ret_ours, size_t *ret_theirs, struct al_error *err);

/** The id of the empty tree, which every git knows without storing it. */
const char *al_git_empty_tree(const struct al_repo *repo);

#endif
