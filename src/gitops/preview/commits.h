// SPDX-License-Identifier: Apache-2.0
/*
 * The list of commits in a question: the commits that a merge brings, that a push sends, or that
 * are lost with a branch.
 *
 * The repository's own files cannot hide a commit from the list: each commit's content is checked
 * against its id, and its parents are not taken from a commit-graph.  The list says so if a shallow
 * boundary cuts the history.
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
 * @param[out] ret_any  True if the list has a commit.
 * @return 0; AL_ERR_EXECUTION naming a commit whose content does not match its id, or when git
 * fails.
 */
int al_git_commits_excerpt(const struct al_repo *repo, const struct al_commits_shown *shown,
                           struct al_run_limits *budget, struct al_str *out, bool *ret_any,
                           struct al_error *err);

#endif
