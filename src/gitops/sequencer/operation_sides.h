// SPDX-License-Identifier: Apache-2.0
/*
 * What the two sides of a conflict stand for: which branch or commit is "ours", and which "theirs".
 *
 * Source: git-rebase(1), "--merge": in a rebase, ours is the branch that is rebased onto.
 */
#ifndef AL_GITOPS_SEQUENCER_OPERATION_SIDES_H
#define AL_GITOPS_SEQUENCER_OPERATION_SIDES_H

#include "gitops/repo/repo.h"

/** Names of both sides, raw text for a sentence.  Set up with AL_OPERATION_SIDES_INIT. */
struct al_operation_sides {
    char *ours, *theirs;
};

#define AL_OPERATION_SIDES_INIT ((struct al_operation_sides){ .ours = NULL })

void al_operation_sides_clear(struct al_operation_sides *sides);

/** Name the sides of the operation in progress; without one, those of a stash that was brought
 * back.  One git child. */
int al_git_operation_sides(const struct al_repo *repo, struct al_run_limits *budget,
                           struct al_operation_sides *ret_sides, struct al_error *err);

/** Read the object id in a file of the git directory; NULL: there is none.  Caller frees. */
char *al_operation_oid(const struct al_repo *repo, const char *name);

/** Read the first line of a file of the git directory; NULL: there is none.  Caller frees. */
char *al_operation_line(const struct al_repo *repo, const char *name);

#endif
