// SPDX-License-Identifier: Apache-2.0
/* Write a diff into patch files. */
#ifndef AL_VERBS_PORCELAIN_PATCH_FILES_H
#define AL_VERBS_PORCELAIN_PATCH_FILES_H

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "git/diff/diff.h"
#include "git/repo/repo.h"
#include "guard/path.h"

/** Decides whether existing files may be replaced. `check` is called once, with the names of all of
 * them, after every patch is complete. A negative status aborts the writing. */
struct al_replacing {
    int (*check)(void *payload, const struct al_strv *names, struct al_error *err);
    void *payload;
};

/**
 * Write one patch file per changed path into a directory: none when git fails or something is in
 * the way.  A patch that replaces a file is told to the watch of the budget.  More than 10,000
 * paths are refused.
 *
 * @param dir        It exists.
 * @param replacing  Asked about regular files that have the name of a patch; NULL: none may be
 *                   replaced.  Anything else with such a name is refused.
 * @param[out] ret_names  The file names.
 */
int al_git_write_patches(const struct al_repo *repo, const struct al_diff_options *options,
                         const struct al_path *dir, const struct al_replacing *replacing,
                         struct al_strv *ret_names, struct al_error *err);

#endif
