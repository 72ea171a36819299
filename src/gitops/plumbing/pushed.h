// SPDX-License-Identifier: Apache-2.0
/*
 * Commits that somebody else may have: those that a remote-tracking branch reaches, or reached when
 * the session saw it.  A remote that is removed does not give its commits back.
 *
 * Source: git-rev-list(1).
 */
#ifndef AL_GITOPS_PLUMBING_PUSHED_H
#define AL_GITOPS_PLUMBING_PUSHED_H

#include <stdbool.h>

#include "gitops/repo/repo.h"

/** Remember what remote-tracking branches have now.  Called before anything is done that can remove
 * or move them. */
int al_git_note_pushed(const struct al_repo *repo, struct al_run_limits *budget,
                       struct al_error *err);

/**
 * Test whether a remote-tracking branch has, or had, one of the commits that `from` reaches and
 * `to` does not.
 *
 * @param from, to  Full ids.  Without `to` (NULL), only `from` itself counts.
 */
int al_git_has_pushed(const struct al_repo *repo, const char *from, const char *to,
                      struct al_run_limits *budget, bool *ret_pushed, struct al_error *err);

#endif
