// SPDX-License-Identifier: Apache-2.0
/*
 * Bringing a working tree along when the branch that it has checked out moves: index and files
 * follow.
 *
 *   a changed path                          its index entry    its file
 *
 *   as the old commit has it                follows            follows
 *   entry as the old commit, file changed   follows            stays
 *   entry changed                           stays              stays
 *
 * git does it with a merge of two trees, which changes no file that is not as its entry says.  The
 * second tree has the paths of the first row; the entries of the second row are set afterwards.
 *
 * Source: git-read-tree(1) "Two Tree Merge".
 */
#ifndef AL_VERBS_FOLLOW_FOLLOW_H
#define AL_VERBS_FOLLOW_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "git/repo/repo.h"

/** A working tree whose branch moves.  Borrowed. */
struct al_follow {
    const struct al_repo *repo;
    const char *from;  /**< the commit that it is on; the empty tree for a branch without commits */
    const char *shown; /**< the working tree for users, safe text */
    bool only_looks;   /**< nothing is written, not even into the index: for a preview */
};

/**
 * List the paths that stay, since the user has changed them, of those that differ between `from`
 * and `to`: paths whose entry or file is not as `from` has it, and untracked files in the way,
 * ignored ones too.
 *
 * @param to  A commit or a tree.
 */
int al_follow_find_changed(const struct al_follow *with, const char *to, struct al_strv *ret_paths,
                           struct al_error *err);

/** Bring along what the user has not changed.  The other paths are named in `notes`. */
int al_follow_partly(const struct al_follow *with, const char *to, struct al_strv *notes,
                     struct al_error *err);

/**
 * Bring along everything, or nothing.
 *
 * @return 0; AL_ERR_EXECUTION naming paths that the user has changed.
 */
int al_follow_wholly(const struct al_follow *with, const char *to, struct al_error *err);

/** The error that names such paths: AL_ERR_EXECUTION with AL_CODE_DIRTY_WORKDIR. */
int al_follow_refuse(const struct al_follow *with, const struct al_strv *paths,
                     struct al_error *err);

/** The use of a branch by a working tree. */
enum al_branch_use {
    AL_BRANCH_UNUSED,
    AL_BRANCH_CHECKED_OUT,
    AL_BRANCH_REBASED,
    AL_BRANCH_BISECTED
};

/** A working tree that uses a branch. */
struct al_branch_user {
    enum al_branch_use use;
    bool is_own; /**< the working tree of the repository that was asked */
    char *name;  /**< of its directory in `worktrees`; NULL: the main working tree */
    char *top;   /**< where it says that it is; NULL: it does not say.  Not verified */
};

/** Those of one branch: the own one first, then the main one. */
struct al_branch_users {
    struct al_branch_user *items;
    size_t count;
};

void al_branch_users_clear(struct al_branch_users *users);

/** Find the working trees that use a branch, by its full name.  The HEAD of a bare repository is
 * nobody's. */
int al_branch_find_users(const struct al_repo *repo, const char *ref,
                         struct al_branch_users *ret_users, struct al_error *err);

/**
 * Open another working tree of the repository, and verify that it is the one.
 *
 * @return 0; AL_ERR_SANDBOX naming it if it is not in the roots; AL_ERR_EXECUTION if it is gone.
 *         The caller frees *ret_repo with al_repo_free().
 */
int al_branch_open_user(const struct al_repo *repo, const struct al_branch_user *user,
                        struct al_repo **ret_repo, struct al_error *err);

#endif
