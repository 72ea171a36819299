// SPDX-License-Identifier: Apache-2.0
/* The message of an operation that stopped with a conflict.  Source: git-commit(1), "--cleanup". */
#ifndef AL_GITOPS_SEQUENCER_PICKED_MESSAGE_H
#define AL_GITOPS_SEQUENCER_PICKED_MESSAGE_H

#include "gitops/repo/repo.h"

/**
 * The message that git prepared for the commit that concludes what stopped, without the list of
 * conflicts below it.  Its other lines stay, also those that begin with the comment character:
 * they are the author's.
 *
 * @return NULL when there is none; it may be no UTF-8; the caller frees it.
 */
char *al_git_prepared_message(const struct al_repo *repo);

/**
 * Find the message that git prepared, without the list of conflicts below it, if git would lose
 * lines of it when it goes on: it takes lines that begin as that list does for comments.
 *
 * @return NULL when git keeps it whole, or it cannot be told; the caller frees it.
 */
char *al_git_picked_message(const struct al_repo *repo);

#endif
