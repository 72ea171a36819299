// SPDX-License-Identifier: Apache-2.0
/*
 * Find untracked files that git would overwrite.
 *
 * A command that writes the files of a commit replaces whatever is in their place, ignored or not,
 * when it is forced or is given paths.  Neither `git status` nor a diff shows such a file.
 *
 * Source: git-checkout(1), git-restore(1), git-reset(1).
 */
#ifndef AL_GITOPS_PREVIEW_UNTRACKED_OVERWRITTEN_H
#define AL_GITOPS_PREVIEW_UNTRACKED_OVERWRITTEN_H

#include "gitops/repo/repo.h"
#include "util/str.h"

/**
 * List the files that `target` has, the index does not have, and in whose place something is on
 * disk.
 *
 * @param target  A commit, or the name of a branch that git would create from a remote's.  If it is
 *                neither, nothing is listed, and git reports the error later.
 * @param paths   Paths of the call that al_repo_pathspec() accepted; NULL or empty: all.
 * @param out     Absolute paths, appended.
 */
int al_git_untracked_overwritten(const struct al_repo *repo, const char *target,
                                 const struct al_strv *paths, struct al_run_limits *budget,
                                 struct al_strv *out, struct al_error *err);

#endif
