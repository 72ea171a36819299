// SPDX-License-Identifier: Apache-2.0
/*
 * What a word names: a commit, or any object.
 *
 * Source: gitrevisions(7), git-rev-parse(1).
 */
#ifndef AL_GITOPS_PLUMBING_REVISION_H
#define AL_GITOPS_PLUMBING_REVISION_H

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** For `git -c`, where a user decides by the history: a commit-graph is a file that anybody could
 * have written, and git believes what it says about parents. */
#define AL_NO_COMMIT_GRAPH "core.commitGraph=false"

/** Run a command that answers with one word; *ret_word, which the caller frees, is NULL when git
 * says no. */
int al_git_run_word(const struct al_repo *repo, struct al_git_command *command,
                    struct al_run_limits *budget, char **ret_word, struct al_error *err);

/** The id of what a word names, as a "commit" or as any "object"; *ret_oid is NULL when it names
 * none.  Caller frees. */
int al_git_find_object(const struct al_repo *repo, const char *word, const char *type,
                       struct al_run_limits *budget, char **ret_oid, struct al_error *err);

/**
 * The commit a word names.
 * @return 0, or AL_ERR_EXECUTION with AL_CODE_BRANCH_NOT_FOUND.  Caller frees *ret_oid.
 */
int al_git_resolve_commit(const struct al_repo *repo, const char *word,
                          struct al_run_limits *budget, char **ret_oid, struct al_error *err);

/** The empty tree, which every git knows without having it. */
const char *al_git_empty_tree(const struct al_repo *repo);

#endif
