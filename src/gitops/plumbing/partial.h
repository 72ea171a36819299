// SPDX-License-Identifier: Apache-2.0
/*
 * Partial clones, which have not all the objects that their commits name.
 *
 * git downloads a missing object when it needs one.  Here it cannot, and a command that writes
 * files has emptied the first of them by the time it notices.
 *
 * Source: partial-clone(7) in git's technical documentation.
 */
#ifndef AL_GITOPS_PLUMBING_PARTIAL_H
#define AL_GITOPS_PLUMBING_PARTIAL_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** Whether a pack of the repository came with a filter. */
bool al_repo_is_partial(const struct al_repo *repo);

/**
 * Refuse, before anything is written, when the content of a file that would be put back is not
 * here.
 *
 * @param from   Where the content comes from: a tree, or NULL for the index.
 * @param paths  Words of an agent; NULL or none: every file.
 * @return 0, also for a repository that is no partial clone; AL_ERR_EXECUTION naming the first
 * file.
 */
int al_git_check_downloaded(const struct al_repo *repo, const char *from,
                            const struct al_strv *paths, struct al_run_limits *budget,
                            struct al_error *err);

#endif
