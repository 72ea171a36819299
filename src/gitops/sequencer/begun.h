// SPDX-License-Identifier: Apache-2.0
/*
 * Which operations in progress a session of this process has begun, or has continued to their
 * present stop.
 *
 * A merge or rebase that a user or another agent began is theirs: giving it up loses their work.
 *
 * `session` is the number of a session over HTTP, 0 in a process that has one session.
 *
 * Threads: safe.
 */
#ifndef AL_GITOPS_SEQUENCER_BEGUN_H
#define AL_GITOPS_SEQUENCER_BEGUN_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/repo/repo.h"

/** Remember that the operation in progress is this session's.  Nothing when none is. */
void al_operation_note_begun(const struct al_repo *repo, uint64_t session);

/** Test whether the operation in progress is one that was noted for this session. */
bool al_operation_was_begun_here(const struct al_repo *repo, uint64_t session);

#endif
