// SPDX-License-Identifier: Apache-2.0
/*
 * The HEADs of all working trees of a repository, read from git's files: no git is started.
 *
 * Source: gitrepository-layout(5) HEAD, worktrees/.
 */
#ifndef AL_GIT_PLUMBING_HEADS_H
#define AL_GIT_PLUMBING_HEADS_H

#include <stdbool.h>

#include "base/error.h"
#include "git/command.h"
#include "git/location.h"
#include "git/repo/repo.h"

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
 * @param from, to  Full ids.  Without `to` (NULL), only `from` itself counts.
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

/** Append the full names of the remote-tracking branches called `name`.  If there is exactly one,
 * git checkout creates a local branch from it. */
int al_git_remote_branches(const struct al_repo *repo, const char *name, struct al_strv *out,
                           struct al_error *err);

#endif
