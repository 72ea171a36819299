// SPDX-License-Identifier: Apache-2.0
/*
 * Uncommitted changes that go along when the branch moves to another commit.  along.c also has the
 * branches that do (work.h).
 *
 * Changes of files that do not differ between the two commits stay as they are, which
 * git-read-tree(1) does.  The others are merged in memory: the index, and the files, each with the
 * new commit.  Where that conflicts nothing happens.
 *
 * Source: git-stash(1), "create"; git-merge-tree(1); git-read-tree(1).
 */
#ifndef AL_GITOPS_REPLAY_ALONG_H
#define AL_GITOPS_REPLAY_ALONG_H

#include <stddef.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"
#include "util/error.h"

struct al_merged;

/** How many tracked files have changes. */
struct al_uncommitted {
    size_t staged, unstaged;
};

/** Count them, with one git child. */
int al_uncommitted_count(const struct al_repo *repo, struct al_run_limits *budget,
                         struct al_uncommitted *ret_count, struct al_error *err);

/** Fail with AL_CODE_DIRTY_WORKDIR, saying how many there are, and where it would stop.  `stops_at`
 * may be NULL. */
int al_uncommitted_refuse(const struct al_uncommitted *count, const struct al_merged *stops_at,
                          struct al_error *err);

/**
 * Merge the changes, and move index and files from one commit to the other.  With the write lock
 * held.  What is left half done, the call puts back from its checkpoint.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_DIRTY_WORKDIR, naming the files, where they conflict.
 */
int al_uncommitted_bring(struct al_repo *repo, const char *from, const char *to,
                         struct al_run_limits *budget, struct al_error *err);

#endif
