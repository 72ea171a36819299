// SPDX-License-Identifier: Apache-2.0
/*
 * The HEADs of all working trees of a repository, read from git's files: no git is started.
 *
 * Source: gitrepository-layout(5) HEAD, worktrees/.
 */
#ifndef AL_GITOPS_PLUMBING_HEADS_H
#define AL_GITOPS_PLUMBING_HEADS_H

#include <stdbool.h>

#include "gitops/location.h"
#include "util/error.h"

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

#endif
