// SPDX-License-Identifier: Apache-2.0
/*
 * What an operation that stopped has left to do: the todo list of a rebase, and that of a
 * cherry-pick or a revert of several commits.  Both are files in the repository, so they are
 * vetted.
 *
 * Source: git-rebase(1), "INTERACTIVE MODE"; git-cherry-pick(1), "SEQUENCER SUBCOMMANDS".
 */
#ifndef AL_GITOPS_SEQUENCER_TODO_H
#define AL_GITOPS_SEQUENCER_TODO_H

#include <stddef.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** A larger list is refused. */
#define AL_TODO_MAX_BYTES (4u << 20)

/**
 * Vet the todo list of a rebase.
 * @param[out] ret_left     The number of commits in the list.
 * @param      ret_commits  Their ids are appended.
 * @return NULL, or the command that is refused; the caller frees it.
 */
char *al_rebase_vet_todo(const char *todo, size_t *ret_left, struct al_strv *ret_commits);

/**
 * Vet the todo list of a cherry-pick or a revert.
 * @param ret_commits  The commits of the list are appended, the current one first.
 * @return NULL, or the word that is refused; the caller frees it.
 */
char *al_sequencer_vet_todo(const char *todo, struct al_strv *ret_commits);

/** The commits that the operation in progress replays after the one at which it stopped, in order,
 * appended.  Their ids may be abbreviated.  A list that cannot be read, or is refused, has none. */
void al_todo_left(const struct al_repo *repo, struct al_strv *out);

/** The parent that the merges among them are compared with, from 1; 0: none was given. */
unsigned al_todo_mainline(const struct al_repo *repo);

#endif
