// SPDX-License-Identifier: Apache-2.0
/* Tracked files, by their names. */
#ifndef AL_GITOPS_PLUMBING_LS_FILES_TRACKED_H
#define AL_GITOPS_PLUMBING_LS_FILES_TRACKED_H

#include "gitops/repo/repo.h"

/** Append the tracked files that `names` (relative to the top) name or contain.  For names that do
 * not exist on disk.  One git child for each batch of names. */
int al_repo_tracked_files(const struct al_repo *repo, const struct al_strv *names,
                          struct al_run_limits *budget, struct al_strv *ret_files,
                          struct al_error *err);

#endif
