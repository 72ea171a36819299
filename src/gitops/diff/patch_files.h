// SPDX-License-Identifier: Apache-2.0
/* Writing a diff into patch files. */
#ifndef AL_GITOPS_DIFF_PATCH_FILES_H
#define AL_GITOPS_DIFF_PATCH_FILES_H

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/repo/repo.h"

/** Whether files of a directory may be replaced: asked once, for all of them, when what replaces
 * them is complete.  A negative status ends the writing. */
struct al_replacing {
    int (*check)(void *payload, const struct al_strv *names, struct al_error *err);
    void *payload;
};

/**
 * patches.c: write one patch file per changed path into the open directory `dir_fd`.  All of them
 * are written or none; more than AL_PATCHES_MAX paths are refused.
 *
 * @param replacing  For the regular files that lie in a patch's place; NULL: none may be replaced.
 *                   Anything else there is refused.  Who is killed leaves each of those files
 *                   whole, under its own name or a temporary one.
 * @param[out] ret_names  The file names.
 */
int al_git_write_patches(const struct al_repo *repo, const struct al_diff_options *options,
                         int dir_fd, const struct al_replacing *replacing,
                         struct al_run_limits *budget, struct al_strv *ret_names,
                         struct al_error *err);

#endif
