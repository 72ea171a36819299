// SPDX-License-Identifier: Apache-2.0
/*
 * A worktree of the same repository, opened with roots of its own.
 *
 * It need not be a root of the session: airlock itself looks at it, for a list or a checkpoint, or
 * makes it.  What git may read and write is this worktree, the common directory, and the working
 * tree that was asked for beside it.  No path of an agent is resolved with these roots.
 */
#ifndef AL_GITOPS_WORKTREE_BESIDE_H
#define AL_GITOPS_WORKTREE_BESIDE_H

#include "gitops/repo/repo.h"
#include "gitops/worktree/find.h"
#include "guard/root.h"
#include "util/error.h"

struct al_git;

/** Set up with AL_WORKTREE_BESIDE_INIT. */
struct al_worktree_beside {
    struct al_roots roots;
    struct al_git *git;
    struct al_repo *repo; /**< what was opened */
};

#define AL_WORKTREE_BESIDE_INIT ((struct al_worktree_beside){ .git = NULL })

void al_worktree_beside_clear(struct al_worktree_beside *beside);

/**
 * Open the working tree `top`.
 *
 * @param repo  Any worktree of the repository, which outlives the result.
 * @param also  Another directory that git may write, such as a worktree that is being made; NULL:
 *              none.
 * @return as al_repo_open(); AL_ERR_SANDBOX when it is a worktree of another repository.
 */
int al_worktree_open_beside(const struct al_repo *repo, const char *top, const char *also,
                            struct al_run_limits *budget, struct al_worktree_beside *ret_beside,
                            struct al_error *err);

/**
 * Open the repository of a submodule, with these two directories and no others.
 *
 * @param repo     The repository that the submodule is in, which outlives the result.
 * @param top      Its working tree; NULL: only its objects and references are read.
 * @param git_dir  Canonical, found by the caller; not what a file in `top` names.
 * @return as al_repo_open().
 */
int al_worktree_open_submodule(const struct al_repo *repo, const char *top, const char *git_dir,
                               struct al_run_limits *budget, struct al_worktree_beside *ret_beside,
                               struct al_error *err);

/** Append a digest of the work in a worktree: its index, its files that are not ignored, and the
 * state of its operations; "-" when it cannot be looked at. */
int al_worktree_digest(const struct al_repo *repo, const struct al_worktree_found *found,
                       struct al_run_limits *budget, struct al_str *ret_text, struct al_error *err);

/**
 * Pack the objects that only a worktree reaches, as files `<name>-<hash>.*` in a directory.  If
 * they cannot be packed, they stay in the repository, which is no error.
 *
 * @param top     Its working tree.
 * @param branch  What this branch reaches counts, since others may delete it; full name, or NULL.
 */
int al_worktree_pack(const struct al_repo *repo, const char *top, const char *branch, int dir_fd,
                     const char *name, struct al_run_limits *budget, struct al_error *err);

#endif
