// SPDX-License-Identifier: Apache-2.0
/*
 * What git prints for programs, read as it comes: NUL-separated, names as raw bytes.
 *
 * Every reader is given a number of bytes to keep.  When there is more it sets `truncated` and
 * refuses further bytes, which stops the git that prints them.
 *
 * Source: git-status(1) "Porcelain Format Version 2".
 */
#ifndef AL_GITOPS_PORCELAIN_H
#define AL_GITOPS_PORCELAIN_H

#include <stdbool.h>

#include "gitops/records.h"
#include "util/str.h"

/** What a working tree is like.  Names are relative to the top, bytes as they are. */
struct al_worktree {
    char *branch;                               /**< "(detached)" when there is none */
    struct al_strv staged, modified, untracked; /**< unmerged files are modified */
    bool truncated;
};

#define AL_WORKTREE_INIT ((struct al_worktree){ .branch = NULL })

void al_worktree_clear(struct al_worktree *status);

/** Reads `git status --porcelain=v2 --branch -z`. */
struct al_status_reader {
    struct al_records records; /* the sink is al_records_add() on it */
    struct al_worktree *to;
    size_t room;
    bool skip; /* the next record is the old name of a rename */
};

/** Set up; the reader must not move afterwards.  Release with al_records_clear(). */
void al_status_reader_init(struct al_status_reader *reader, struct al_worktree *to,
                           size_t max_bytes);

#endif
