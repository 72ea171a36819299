// SPDX-License-Identifier: Apache-2.0
/*
 * The commits that a question lists: what comes in with a merge, what a push takes along, what goes
 * with a branch.
 *
 * A list leaves nothing out that the repository's own files could hide: the commits are what their
 * ids say, and no commit-graph is asked for their parents.  Where a shallow boundary cuts the
 * history, the list says so.
 *
 * Source: git-rev-list(1), gitformat-commit-graph(5), git-fetch(1) "--depth".
 */
#ifndef AL_GITOPS_PREVIEW_COMMITS_H
#define AL_GITOPS_PREVIEW_COMMITS_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"
#include "util/str.h"

/** The commits to list. */
struct al_commits_shown {
    const char *const *words; /**< for `git rev-list`, ending with NULL */
    const char *format;       /**< of `git log` */
    const char *title;        /**< a line above them */
};

/**
 * Append a list of commits as an excerpt; nothing when there are none.
 *
 * @param ret_any  Whether there is any.
 * @return 0; AL_ERR_EXECUTION naming a commit whose content does not match its id, or when git
 * fails.
 */
int al_git_commits_excerpt(const struct al_repo *repo, const struct al_commits_shown *shown,
                           struct al_run_limits *budget, struct al_str *out, bool *ret_any,
                           struct al_error *err);

#endif
