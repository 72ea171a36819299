// SPDX-License-Identifier: Apache-2.0
/* The message of a cherry-pick that stopped with a conflict.  Source: git-commit(1), "--cleanup".
 */
#ifndef AL_GITOPS_SEQUENCER_PICKED_MESSAGE_H
#define AL_GITOPS_SEQUENCER_PICKED_MESSAGE_H

#include "gitops/repo/repo.h"

/**
 * Find the message that git prepared, without the list of conflicts below it, if git would lose
 * lines of it when it goes on: it takes lines that begin as that list does for comments.
 *
 * @return NULL when git keeps it whole, or it cannot be told; the caller frees it.
 */
char *al_git_picked_message(const struct al_repo *repo);

#endif
