// SPDX-License-Identifier: Apache-2.0
/*
 * A rebase that stopped goes on.
 *
 * Source: git-rebase(1) "--continue".
 */
#ifndef AL_GITOPS_RESUME_H
#define AL_GITOPS_RESUME_H

#include "gitops/repo.h"

/** Refuse while there are conflicts (AL_CODE_CONFLICT), and when a filter or a custom merge driver
 * would have to run for what is left to replay. */
int al_git_resume_check(const struct al_repo *repo, struct al_budget *budget, struct al_error *err);

/**
 * Commit what is staged and go on.
 *
 * @param message  Of the commit that stopped; NULL: its own.
 * @return 0 when the rebase ended, or stopped where it was told to; AL_ERR_EXECUTION with
 *         AL_CODE_CONFLICT when a later commit conflicts: what was committed before it stays.
 */
int al_git_resume(struct al_repo *repo, const char *message, struct al_budget *budget,
                  struct al_error *err);

#endif
