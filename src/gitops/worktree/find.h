// SPDX-License-Identifier: Apache-2.0
/*
 * A linked worktree below airlock's directory, found by its name.
 *
 * The two halves have to name each other, as gitops/git_dir.h says:
 *
 *   <dir>/<name>/.git               gitdir: <common>/worktrees/<id>
 *   <common>/worktrees/<id>/gitdir  <dir>/<name>/.git
 *
 * If they do not, a worktree was moved, half removed or forged by hand.  Nothing is then believed
 * of the half in the working tree, which an agent can write.
 *
 * Source: gitrepository-layout(5), git-worktree(1).
 */
#ifndef AL_GITOPS_WORKTREE_FIND_H
#define AL_GITOPS_WORKTREE_FIND_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "gitops/worktree/place.h"
#include "util/error.h"
#include "util/str.h"

/** Set up with AL_WORKTREE_FOUND_INIT. */
struct al_worktree_found {
    char *top;     /**< `<dir>/<name>` */
    char *id;      /**< its name below worktrees/; NULL: no administrative directory names it */
    char *git_dir; /**< `<common>/worktrees/<id>`; NULL as well */
    bool has_top;  /**< there is something at `top` */
    bool is_whole; /**< both halves are there and name each other */
    char *locked;  /**< the reason that it is locked, "" without one; NULL: it is not */
};

#define AL_WORKTREE_FOUND_INIT ((struct al_worktree_found){ .top = NULL })

void al_worktree_found_clear(struct al_worktree_found *found);

/** Look for a worktree.  A name that nothing has is no error: neither `id` nor `has_top` is set. */
int al_worktree_find(const struct al_repo *repo, const struct al_worktree_place *place,
                     const char *name, struct al_worktree_found *ret_found, struct al_error *err);

/** The number of worktrees below the directory. */
int al_worktree_count(const struct al_repo *repo, const struct al_worktree_place *place,
                      size_t *ret_count, struct al_error *err);

#endif
