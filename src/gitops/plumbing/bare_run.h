// SPDX-License-Identifier: Apache-2.0
/* One git child in a bare repository of airlock's own. */
#ifndef AL_GITOPS_PLUMBING_BARE_RUN_H
#define AL_GITOPS_PLUMBING_BARE_RUN_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/plumbing/bare.h"
#include "proc/proc.h"
#include "util/error.h"

/**
 * Run a command in the bare repository.
 *
 * With command->cwd_fd, that directory of the lender's roots is the working tree, which git may
 * read.
 *
 * @param borrows  Objects of bare->lender can be read as well.
 * @param sink     Gets standard output.
 * @return 0; AL_ERR_EXECUTION also when git exits with another code than 0.
 */
int al_bare_run(const struct al_bare *bare, const struct al_git_command *command, bool borrows,
                struct al_sink sink, struct al_run_limits *budget, struct al_error *err);

#endif
