// SPDX-License-Identifier: Apache-2.0
/* Run `git blame`. */
#ifndef AL_GITOPS_PORCELAIN_BLAME_H
#define AL_GITOPS_PORCELAIN_BLAME_H

#include <stdint.h>

#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** Options of `git blame`. A line of 0 means not given. */
struct al_blame_options {
    const char *path, *commit;
    int64_t start_line, end_line;
};

/** Run `git blame`. A non-zero exit code is an error. */
int al_git_blame(const struct al_repo *repo, const struct al_blame_options *options,
                 size_t max_bytes, struct al_run_limits *budget, struct al_git_output *ret_output,
                 struct al_error *err);

#endif
