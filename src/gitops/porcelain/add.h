// SPDX-License-Identifier: Apache-2.0
/* Run `git add`. */
#ifndef AL_GITOPS_PORCELAIN_ADD_H
#define AL_GITOPS_PORCELAIN_ADD_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** The changes to stage: given paths, all (-A), or those of tracked files (-u). */
enum al_add_mode { AL_ADD_PATHS, AL_ADD_ALL, AL_ADD_UPDATE };

/** Options of `git add`; `paths` is used with AL_ADD_PATHS. */
struct al_add_options {
    enum al_add_mode mode;
    const struct al_strv *paths;
    const struct al_strv
        *without;      /**< names relative to the top that AL_ADD_ALL skips; may be NULL */
    bool limited;      /**< `paths` limits AL_ADD_UPDATE */
    const char *index; /**< the index file to change; NULL: the repository's own.  Borrowed */
};

/** Run `git add`. A non-zero exit code is an error. */
int al_git_add(struct al_repo *repo, const struct al_add_options *options, size_t max_bytes,
               struct al_run_limits *budget, struct al_git_output *ret_output,
               struct al_error *err);

/** Check that `git add` would find each path: on the disk, or among the files of the index.  The
 * error is git's own.
 *
 * @param affected  The files that the add would change, deleted ones among them.
 * @param or_head   Its deletion may be staged: HEAD's commit has it. */
int al_git_add_check(const struct al_repo *repo, const struct al_strv *paths, bool or_head,
                     const struct al_strv *affected, struct al_run_limits *budget,
                     struct al_error *err);

/** Count the entries that differ between HEAD and the index. */
int al_git_count_staged(const struct al_repo *repo, struct al_run_limits *budget,
                        uint64_t *ret_count, struct al_error *err);

#endif
