// SPDX-License-Identifier: Apache-2.0
/* For pull.c: copying the content of files into the store. */
#ifndef AL_STAGING_PULL_COPY_H
#define AL_STAGING_PULL_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/command.h"
#include "staging/pull/list.h"
#include "util/error.h"

struct al_repo;
struct al_staging;

/** What to copy: the files of a commit, and which of them. */
struct al_pull_copy {
    const struct al_repo *repo;
    const char *commit;
    const struct al_pull_list *list;
    const bool *wanted; /**< one for each file of the list */
    bool *is_lfs;       /**< set for a file that is a pointer of git-lfs(1); one for each file */
    /** Set on input for a file of `wanted` that the sandbox, a directory, is to get as the commit
     * has it, and of which it has none; on output for those that it got.  One for each file. */
    bool *creates;
};

/**
 * Copy the objects that the store does not have, durable, with one git child.  A repository on
 * GitHub is asked for them first.  Files that are created in the sandbox are written while their
 * content passes; the ones that the store has already are left to al_pull_apply().
 *
 * The commit, its trees and every object that is copied are hashed, and compared with their ids: a
 * forged object does not get into the store, nor does a forged tree decide which files there are.
 *
 * @return 0; AL_ERR_EXECUTION naming an object that is forged or missing, or when the objects are
 *         larger than staging.max_bytes.  Nothing is copied then, but files may have been created,
 *         which al_pull_take_back() removes.
 */
int al_pull_copy_blobs(struct al_staging *staging, const struct al_pull_copy *copy,
                       struct al_run_limits *budget, struct al_error *err);

/** Ask a repository on GitHub for the blobs that the store does not have.  Needs no lock, so that
 * other calls go on while the network is slow.  Does nothing for other repositories. */
int al_pull_bring_blobs(struct al_staging *staging, const struct al_pull_copy *copy,
                        struct al_run_limits *budget, struct al_error *err);

/** "the files have … bytes, more than the … that the sandbox may hold". */
int al_pull_too_large(uint64_t bytes, uint64_t max, struct al_error *err);

#endif
