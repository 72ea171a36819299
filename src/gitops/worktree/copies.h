// SPDX-License-Identifier: Apache-2.0
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
#ifndef AL_GITOPS_WORKTREE_COPIES_H
#define AL_GITOPS_WORKTREE_COPIES_H

#include <stddef.h>
#include <stdint.h>

#include "gitops/repo/repo.h"
#include "util/error.h"

#define AL_WORKTREE_COPIES_MAX_BYTES 100000000u

struct al_worktree_copies {
    size_t copied;  /**< files */
    size_t links;   /**< links that were left out */
    uint64_t bytes; /**< of all files, also if they are too large */
};

/**
 * Copy the files.
 *
 * @param skip  A directory whose files are never copied, canonical: where worktrees are made.
 * @param to_fd The top of the new worktree.
 */
int al_worktree_copy_ignored(const struct al_repo *repo, const char *skip, int to_fd,
                             struct al_run_limits *budget, struct al_worktree_copies *ret_copies,
                             struct al_error *err);

#endif
