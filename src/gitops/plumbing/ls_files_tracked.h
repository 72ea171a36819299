// SPDX-License-Identifier: Apache-2.0
/* Files of the index, by their names. */
#ifndef AL_GITOPS_PLUMBING_LS_FILES_TRACKED_H
#define AL_GITOPS_PLUMBING_LS_FILES_TRACKED_H

#include "gitops/repo/repo.h"

/**
 * Append the files of the index among `names` (relative to the top) and below them.  For names that
 * are not on the disk.  One git child for each 100 of them.
 */
int al_repo_tracked_files(const struct al_repo *repo, const struct al_strv *names,
                          struct al_run_limits *budget, struct al_strv *ret_files,
                          struct al_error *err);

#endif
