// SPDX-License-Identifier: Apache-2.0
/*
 * The state of a working tree in full, read while `git status` prints it.
 *
 * Source: git-status(1) "Porcelain Format Version 2".
 */
#ifndef AL_GIT_READING_WORKTREE_STATE_H
#define AL_GIT_READING_WORKTREE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "git/repo/repo.h"
#include "git/run.h"

/** One changed file.  Valid during the callback. */
struct al_file_state {
    char kind;     /**< '1' changed, '2' renamed or copied, 'u' in conflict, '?' untracked */
    char staged;   /**< 'M', 'T', 'A', 'D', 'R', 'C'; '.' unchanged; of a conflict 'A', 'D', 'U' */
    char unstaged; /**< the same for the working tree */
    bool is_submodule;
    const char *path;     /**< raw bytes, relative to the top; a nested repository ends with '/' */
    const char *old_path; /**< of a rename; NULL */
    unsigned old_mode, index_mode, mode; /**< in HEAD, in the index, in the working tree */
};

/** The branch, and how many files there are of each kind. */
struct al_worktree_state {
    char *branch;   /**< name without refs/heads/; NULL: HEAD is on none */
    char *head;     /**< the commit of HEAD; "" while there is none */
    char *upstream; /**< e.g. origin/main; NULL: none is set */
    bool is_broken; /**< the reference of the branch is, so that `head` is "" */
    bool is_gone;   /**< the upstream is set but does not exist */
    uint64_t ahead, behind;
    size_t staged, unstaged, conflicts, untracked;
};

#define AL_WORKTREE_STATE_INIT ((struct al_worktree_state){ .branch = NULL })

void al_worktree_state_clear(struct al_worktree_state *state);

/**
 * Read it with one git child.
 *
 * @param untracked  "no", "normal" or "all", as for git status.
 * @param take       Gets each file, and ends the reading with false; NULL: only the numbers are
 *                   wanted.
 * @return 0; what git fails with.  The caller clears `ret_state`, after a failure too.
 */
int al_git_read_worktree_state(const struct al_repo *repo, const char *untracked,
                               bool (*take)(void *payload, const struct al_file_state *file),
                               void *payload, struct al_worktree_state *ret_state,
                               struct al_error *err);

/** Set the branch and the commit of HEAD from git's files: for a bare repository, and where git
 * status does not say them. */
void al_worktree_state_read_head(const struct al_repo *repo, struct al_worktree_state *state);

/** Options of `git status`. */
struct al_status_options {
    bool porcelain, branch, untracked;
};

/** Run `git status`. A non-zero exit code is an error. */
int al_git_status(const struct al_repo *repo, const struct al_status_options *options,
                  size_t max_bytes, struct al_git_output *ret_output, struct al_error *err);

#endif
