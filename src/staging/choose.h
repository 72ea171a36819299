// SPDX-License-Identifier: Apache-2.0
/* Choosing changes by the words of git_stage, for the files of this folder. */
#ifndef AL_STAGING_CHOOSE_H
#define AL_STAGING_CHOOSE_H

#include <stdbool.h>

#include "gitops/run.h"
#include "sandbox/sandbox.h"
#include "staging/changes.h"
#include "util/error.h"
#include "util/str.h"

/** The files to choose from. */
struct al_choosing {
    const struct al_changes *changes;
    const struct al_sandbox_files *files; /**< everything in the sandbox */
    struct al_deadline *deadline;
    bool *chosen; /**< one for each change; set, never cleared */
};

/**
 * Mark the changes that words stand for: files, directories or patterns.  A file that takes the
 * place of a directory, or the other way round, comes with the deletion of what was there.
 *
 * @return 0; AL_ERR_BAD_ARGS or AL_ERR_SANDBOX for a malformed path; AL_ERR_EXECUTION naming a word
 *         that stands for nothing, or for nothing that changed.
 */
int al_changes_choose(struct al_choosing *choosing, const struct al_strv *words,
                      struct al_error *err);

#endif
