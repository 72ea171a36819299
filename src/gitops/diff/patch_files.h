// SPDX-License-Identifier: Apache-2.0
/* Write a diff into patch files. */
#ifndef AL_GITOPS_DIFF_PATCH_FILES_H
#define AL_GITOPS_DIFF_PATCH_FILES_H

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/repo/repo.h"

/** Decides whether existing files may be replaced. `check` is called once, with the names of all of
 * them, after every patch is complete. A negative status aborts the writing. */
struct al_replacing {
    int (*check)(void *payload, const struct al_strv *names, struct al_error *err);
    void *payload;
};

/**
 * Write one patch file per changed path into the directory `dir_fd`: all of them or none.  More
 * than AL_PATCHES_MAX paths are refused.
 *
 * @param replacing  Asked about regular files that have the name of a patch; NULL: none may be
 *                   replaced.  Anything else with such a name is refused.  If the process is
 *                   killed, each existing file is still whole, under its own name or a temporary
 *                   one.
 * @param[out] ret_names  The file names.
 */
int al_git_write_patches(const struct al_repo *repo, const struct al_diff_options *options,
                         int dir_fd, const struct al_replacing *replacing,
                         struct al_run_limits *budget, struct al_strv *ret_names,
                         struct al_error *err);

#endif
