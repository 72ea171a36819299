// SPDX-License-Identifier: Apache-2.0
/* Run `git show`. */
#ifndef AL_GITOPS_PORCELAIN_SHOW_H
#define AL_GITOPS_PORCELAIN_SHOW_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** Options of `git show`. */
struct al_show_options {
    const char *commit;
    bool stat, name_only;
    const char *format;
};

/** Run `git show`. A non-zero exit code is an error. */
int al_git_show(const struct al_repo *repo, const struct al_show_options *options, size_t max_bytes,
                struct al_run_limits *budget, struct al_git_output *ret_output,
                struct al_error *err);

#endif
