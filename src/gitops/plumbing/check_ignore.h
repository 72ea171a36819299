// SPDX-License-Identifier: Apache-2.0
/*
 * The paths that git ignores.
 *
 * Source: git-check-ignore(1), gitignore(5).
 */
#ifndef AL_GITOPS_PLUMBING_CHECK_IGNORE_H
#define AL_GITOPS_PLUMBING_CHECK_IGNORE_H

#include "gitops/repo/repo.h"

/**
 * Find the first of these paths that is ignored and not tracked.
 *
 * @param paths       As the agent wrote them.
 * @param ret_rule    "<path> is ignored by <file>:<line> <pattern>", safe text; NULL: none is
 *                    ignored.  Caller frees.
 */
int al_git_find_ignored(const struct al_repo *repo, const struct al_strv *paths,
                        struct al_run_limits *budget, char **ret_rule, struct al_error *err);

#endif
