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
};

/**
 * Copy the blobs that the store does not have, durable.  A repository on GitHub is asked for them
 * first.
 *
 * The commit, its trees and every blob are hashed, and compared with their ids: a forged object
 * does not get into the store, nor does a forged tree decide which files there are.
 *
 * @return 0; AL_ERR_EXECUTION naming an object that is forged or missing, or when the blobs are
 *         larger than staging.max_bytes.
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
