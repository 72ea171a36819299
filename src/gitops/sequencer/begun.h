// SPDX-License-Identifier: Apache-2.0
/*
 * Which operations in progress this process has begun, or has continued to their present stop.
 *
 * A merge or rebase that a user began is the user's: giving it up loses the user's work.
 *
 * Threads: safe.
 */
#ifndef AL_GITOPS_SEQUENCER_BEGUN_H
#define AL_GITOPS_SEQUENCER_BEGUN_H

#include <stdbool.h>

#include "gitops/repo/repo.h"

/** Remember that the operation in progress is this process's.  Nothing when none is. */
void al_operation_note_begun(const struct al_repo *repo);

/** Test whether the operation in progress is one that was noted. */
bool al_operation_was_begun_here(const struct al_repo *repo);

#endif
