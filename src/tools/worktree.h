// SPDX-License-Identifier: Apache-2.0
/* What git_worktree and git's own command line say before a worktree is removed. */
#ifndef AL_TOOLS_WORKTREE_H
#define AL_TOOLS_WORKTREE_H

#include "base/error.h"
#include "base/str.h"
#include "call/call.h"

/** Append a line each for changed, staged, untracked and ignored files of the worktree with this
 * top; nothing if there are none. */
int al_worktree_add_loss(struct al_call *call, const char *top, struct al_str *out,
                         struct al_error *err);

#endif
