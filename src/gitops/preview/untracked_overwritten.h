// SPDX-License-Identifier: Apache-2.0
/*
 * Files that git overwrites although the index does not know them.
 *
 * A command that writes what a commit has replaces what stands in its place, be that ignored or
 * not, when it is told to go ahead or is given paths.  Neither `git status` nor a diff shows such a
 * file.
 *
 * Source: git-checkout(1), git-restore(1), git-reset(1).
 */
#ifndef AL_GITOPS_PREVIEW_UNTRACKED_OVERWRITTEN_H
#define AL_GITOPS_PREVIEW_UNTRACKED_OVERWRITTEN_H

#include "gitops/repo/repo.h"
#include "util/str.h"

/**
 * List what `target` has, the index does not, and in whose place something is on the disk.
 *
 * @param target  A commit, or a branch that would be made of a remote's; where there is neither,
 *                nothing is listed, and git will say so.
 * @param paths   Words of the call that al_repo_pathspec() accepted; NULL or empty: everything.
 * @param out     Absolute paths, appended.
 */
int al_git_untracked_overwritten(const struct al_repo *repo, const char *target,
                                 const struct al_strv *paths, struct al_run_limits *budget,
                                 struct al_strv *out, struct al_error *err);

#endif
