// SPDX-License-Identifier: Apache-2.0
/*
 * The submodules of a linked worktree.
 *
 * Each working tree has repositories of its own for its submodules:
 *
 *   <common>/modules/<name>                 of the main working tree
 *   <common>/worktrees/<id>/modules/<name>  of a linked one
 *
 * Those of a new worktree are made from those of the working tree that it is made from: git copies
 * objects and the references of remotes and tags, and no address is followed.  What a `.git`
 * file or `.gitmodules` names is only compared with where the repository has to be.
 *
 * They go and come back with their worktree (history/worktree.h).
 *
 * Source: gitsubmodules(7), gitmodules(5), gitrepository-layout(5).
 */
#ifndef AL_VERBS_WORKTREE_SUBMODULES_H
#define AL_VERBS_WORKTREE_SUBMODULES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/repo/repo.h"

/** A worktree whose submodules are made.  Borrowed. */
struct al_worktree_half {
    const struct al_repo
        *repo;           /**< another working tree of the repository: it was made from this */
    const char *top;     /**< canonical */
    const char *git_dir; /**< canonical */
};

/** What was made of the submodules of a worktree. */
struct al_worktree_submodules_made {
    size_t count;
    struct al_strv missing; /**< "'<path>': <reason>", safe text */
};

/**
 * Make the submodules of a new worktree, and theirs, as far as they are initialised in the working
 * tree that it was made from.
 *
 * @return 0, also if one could not be made: it is in `missing`, and nothing is left of it.
 */
int al_worktree_make_submodules(const struct al_worktree_half *half, struct al_run_limits *budget,
                                struct al_worktree_submodules_made *made, struct al_error *err);

#endif
