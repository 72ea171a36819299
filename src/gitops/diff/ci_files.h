// SPDX-License-Identifier: Apache-2.0
/* Files that tell another machine what to run (continuous integration). */
#ifndef AL_GITOPS_DIFF_CI_FILES_H
#define AL_GITOPS_DIFF_CI_FILES_H

#include <stdbool.h>

/** Test whether a file of this path, relative to the top, runs in CI. */
bool al_path_runs_in_ci(const char *path);

#endif
