// SPDX-License-Identifier: Apache-2.0
/*
 * Making a linked worktree below airlock's directory.
 *
 * It is made as a whole or not at all:
 *
 *   1. the record says that it is being made, and of which branch
 *   2. its directory, which must not exist
 *   3. its branch, if it is to have a new one: without configuration
 *   4. git worktree add
 *   5. its submodules, from those of the working tree that it is made from
 *   6. the files that `.worktreeinclude` names
 *   7. the record says that it is there, and the session gets it as a root
 *
 * A failure in any step removes everything.  The next writer does so if airlock is killed.
 *
 * Source: git-worktree(1) "add".
 */
#ifndef AL_VERBS_WORKTREE_ADD_H
#define AL_VERBS_WORKTREE_ADD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "git/repo/repo.h"
#include "verbs/worktree/find.h"
#include "verbs/worktree/submodules.h"

/* --- Copies --- */

/*
 * The ignored files that a new worktree gets: those that `.worktreeinclude` names, in the syntax of
 * gitignore(5), and that git ignores.  They come from the working tree that the call is made in.
 *
 * - Links are not followed and not copied, neither are other things than files.
 * - More than AL_WORKTREE_COPIES_MAX_BYTES in total: nothing is copied.
 * - Permissions are kept.  A file that is there already stays.
 *
 * Source: git-ls-files(1), gitignore(5).
 */

#define AL_WORKTREE_COPIES_MAX_BYTES 100000000u

struct al_worktree_copies {
    size_t copied;  /**< files */
    size_t links;   /**< links that were left out */
    uint64_t bytes; /**< of all files, also if they are too large */
};

/* --- Adding --- */

/** Borrowed. */
struct al_worktree_add_options {
    const char *name;
    const char *branch; /**< without refs/heads/ */
    const char *start;  /**< the commit that the branch is made at; NULL: it exists */
    bool locks;         /**< it is locked from the beginning */
    const char *reason; /**< why; NULL: not said */
    const char *agent;  /**< who makes it; NULL: nobody said */
};

struct al_worktree_added {
    char *top; /**< owned */
    struct al_worktree_copies copies;
    struct al_worktree_submodules_made submodules;
};

void al_worktree_added_clear(struct al_worktree_added *added);

/**
 * Check what can be checked before anybody is asked: the name is free, there is room, the branch
 * exists or does not, and no other worktree has it checked out.
 */
int al_worktree_check_add(const struct al_repo *repo, const struct al_worktree_place *place,
                          const struct al_worktree_add_options *options, struct al_error *err);

/** Make it.  The caller holds the repository's write lock.  The caller clears *ret_added. */
int al_worktree_add(const struct al_repo *repo, const struct al_worktree_add_options *options,
                    struct al_worktree_added *ret_added, struct al_error *err);

/* --- Roots --- */

/* The worktrees that airlock made are roots again after a restart, and after a rollback. */

struct al_git;

/**
 * Make roots of the worktrees that were made in a working tree which is a root of this session, and
 * that lie in none.
 *
 * Airlock's records say which these are.  A worktree is left out unless its directory is the one
 * that was made, and its two halves name each other.
 *
 * @return whether there is a root more, or one that leads to another directory now: another process
 *         may have brought a worktree back.
 * Threads: safe.
 */
bool al_worktree_admit_recorded(struct al_git *git);

/* --- Branch --- */

/*
 * The branch that is made with a worktree.
 *
 * An add may be killed before its branch is made, and somebody else may make one of that name at
 * that commit afterwards.  So the branch says whose it is: the entry of its reflog with which it
 * begins names the directory of the worktree, which is in the record as well, and as long as that
 * is the last entry nobody has used the branch.
 */

/* --- Remove --- */

/**
 * Check that a worktree may be removed: it is there, below the directory, and not locked.
 *
 * @param repo  A call's repository; its own working tree may be the one.
 */
int al_worktree_check_removable(const struct al_worktree_place *place,
                                const struct al_worktree_found *found, const char *name,
                                struct al_error *err);

/** Forget airlock's record of a worktree that is not at its place any more, and that it was a root.
 */
void al_worktree_forget(const struct al_repo *repo, const char *name);

/**
 * Remove what every `add` that did not come to its end, because airlock was killed, left behind:
 * files, administrative directory, record, and the branch that was made for it, if it is still
 * where it was made.  The caller holds the repository's write lock, and the limits are its own: it
 * has to come to its end.
 *
 * @param place  NULL: nothing is removed yet.
 * @return whether there is one, so that something may be in the way.
 */
bool al_worktree_discard_unfinished(const struct al_repo *repo,
                                    const struct al_worktree_place *place);

/* --- Lock --- */

/* Locking a linked worktree, so that it is neither removed nor pruned.
 *
 * Source: git-worktree(1) "lock", gitrepository-layout(5) worktrees/<id>/locked. */

/**
 * Lock a worktree, or unlock it.
 *
 * @param reason  One line; NULL: none.
 * @param locks   False: unlock it.
 * @return 0; AL_ERR_EXECUTION when it is locked already, or is not.
 */
int al_worktree_set_lock(const struct al_repo *repo, const struct al_worktree_found *found,
                         const char *name, bool locks, const char *reason, struct al_error *err);

#endif
