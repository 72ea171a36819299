// SPDX-License-Identifier: Apache-2.0
/*
 * The directory in which airlock makes linked worktrees: `[worktrees] dir` of the configuration.
 *
 *   absolute    as it is; no component may be a link
 *   relative    below the main working tree; of a bare repository below the directory whose `.git`
 *               file leads to it, else below its own
 *
 * The main working tree need not be a root of the session.  It is found from the common directory,
 * which belongs to the session since it began, and nothing that an agent writes is followed.
 *
 * Source: git-worktree(1), gitrepository-layout(5).
 */
#ifndef AL_GITOPS_WORKTREE_PLACE_H
#define AL_GITOPS_WORKTREE_PLACE_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/error.h"

/** Set up with AL_WORKTREE_PLACE_INIT. */
struct al_worktree_place {
    char *main; /**< what a relative `dir` is below; canonical */
    char *dir;  /**< canonical, where worktrees are or will be */
    int fd;     /**< `dir`, open for reading; -1: it does not exist */
    bool made;  /**< it was made just now */
};

#define AL_WORKTREE_PLACE_INIT ((struct al_worktree_place){ .fd = -1 })

void al_worktree_place_clear(struct al_worktree_place *place);

/**
 * Find the directory.
 *
 * @param make  Make it if it is missing, with a `.gitignore` of its own: git never lists it.
 * @return 0; AL_ERR_EXECUTION when a link or a file is in the way, or it cannot be made.
 */
int al_worktree_place_find(const struct al_repo *repo, bool make,
                           struct al_worktree_place *ret_place, struct al_error *err);

/** Check the name of a worktree: one component of [A-Za-z0-9._-], 64 at most, no leading '-', not
 * ".", ".." or ".git".  AL_ERR_BAD_ARGS names the parameter. */
int al_worktree_check_name(const char *param, const char *name, struct al_error *err);

#endif
