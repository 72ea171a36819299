// SPDX-License-Identifier: Apache-2.0
/*
 * The object that a word names.
 *
 * Source: gitrevisions(7), git-rev-parse(1).
 */
#ifndef AL_GIT_PLUMBING_REVISION_H
#define AL_GIT_PLUMBING_REVISION_H

#include <stdbool.h>

#include "base/error.h"
#include "git/command.h"
#include "git/location.h"
#include "git/repo/repo.h"

/** The setting for `git -c` where a user decides by the history.  A commit-graph is a file that
 * anybody could have written, and git trusts it about the parents of commits. */
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

/** The numbers of commits that `ours` and `theirs` have and the other one has not. */
int al_git_count_apart(const struct al_repo *repo, const char *ours, const char *theirs,
                       size_t *ret_ours, size_t *ret_theirs, struct al_error *err);

/** The id of the empty tree, which every git knows without storing it. */
const char *al_git_empty_tree(const struct al_repo *repo);

/* --- Heads --- */

/*
 * The HEADs of all working trees of a repository, read from git's files: no git is started.
 *
 * Source: gitrepository-layout(5) HEAD, worktrees/.
 */

/** A working tree and its HEAD.  Borrowed. */
struct al_head {
    const char *name;   /**< of its directory in `worktrees`; NULL: the main one */
    const char *top;    /**< where it says that it is; NULL: it does not say.  Not verified */
    int git_dir_fd;     /**< its git directory, open */
    bool is_own;        /**< it is the one that was asked */
    bool has_index;     /**< a bare repository has a HEAD, but no index: it is no working tree */
    const char *branch; /**< the full name of what HEAD is on, also without a commit; NULL: none */
    const char *oid; /**< the commit of a HEAD that is on no branch; NULL: it is on one, or cannot
                        be read */
};

/** Called with each; false ends it. */
typedef bool al_head_fn(void *payload, const struct al_head *head);

/**
 * Read the HEAD of each working tree: the main one first, then the linked ones in no order.
 *
 * @return 0, or AL_ERR_EXECUTION when the common directory is gone.
 */
int al_git_each_head(const struct al_location *at, al_head_fn *take, void *payload,
                     struct al_error *err);

/* --- Pushed --- */

/*
 * Commits that somebody else may have: those that a remote-tracking branch reaches, or reached when
 * the session saw it.  A remote that is removed does not give its commits back.
 *
 * Source: git-rev-list(1).
 */

/** Remember what remote-tracking branches have now.  Called before anything is done that can remove
 * or move them. */
int al_git_note_pushed(const struct al_repo *repo, struct al_error *err);

/**
 * Test whether a remote-tracking branch has, or had, one of the commits that `from` reaches and
 * `to` does not.
 *
 * @param from, to  Full ids.  Only `from` itself counts without `to` (NULL).
 */
int al_git_has_pushed(const struct al_repo *repo, const char *from, const char *to,
                      bool *ret_pushed, struct al_error *err);

/* --- Default branch --- */

/* The branch that the others are compared with and landed in. */

/** The branch that a remote's HEAD had when it was cloned, without the remote in front; NULL: it
 * was not recorded, or is gone.  Caller frees. */
char *al_git_remote_default(const struct al_repo *repo, const char *remote);

/**
 * The full name of the default branch, which exists: the one that the HEAD of origin, or of the
 * only remote, had when it was cloned, else main, else master, else the branch of the main working
 * tree. NULL: there is none.  Caller frees.
 */
char *al_git_default_branch(const struct al_repo *repo);

/* --- Remote branches --- */

/* Remote-tracking branches by their short name. */

/** Append the full names of the remote-tracking branches called `name`.  git checkout creates a
 * local branch from it if there is exactly one. */
int al_git_remote_branches(const struct al_repo *repo, const char *name, struct al_strv *out,
                           struct al_error *err);

#endif
