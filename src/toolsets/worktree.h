// SPDX-License-Identifier: Apache-2.0
/* git_worktree, which several toolsets offer: its result is plain text. */
#ifndef AL_TOOLSETS_WORKTREE_H
#define AL_TOOLSETS_WORKTREE_H

#include "tool/call.h"
#include "tool/tool.h"

/** The tool. */
extern const struct al_tool al_tool_git_worktree;

/** worktree_list.c: the action list. */
int al_worktree_tool_list(struct al_call *call, const void *args, struct al_result *result,
                          struct al_error *err);

#endif
