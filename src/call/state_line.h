// SPDX-License-Identifier: Apache-2.0
/* The line that ends every result of a tool that changed something: branch, upstream, changes. */
#ifndef AL_CALL_STATE_LINE_H
#define AL_CALL_STATE_LINE_H

#include "base/str.h"
#include "call/call.h"
#include "git/reading/worktree_state.h"
#include "git/repo/repo.h"

/**
 * Append e.g. "main 3 ahead of origin/main, 2 staged, 1 not staged, rebase 2/5, 1 conflict", with a
 * newline.  One git child; when it fails, only what git's files say.
 */
void al_state_line(struct al_call *call, struct al_str *out);

/** Append "main 3 ahead of origin/main", "detached at a1b2c3d", "main, no commits yet".  A branch
 * that follows none is compared with the one that it was pushed to, which becomes its upstream. */
void al_state_add_branch(struct al_call *call, struct al_worktree_state *state, struct al_str *out);

/** Append "rebase 2/5", "merge", …; nothing when no operation is in progress. */
void al_state_add_operation(const struct al_repo *repo, struct al_str *out);

/** Append the line that says how many files' uncommitted changes wait, and for what; nothing when
 * there are none. */
void al_state_add_waiting(struct al_call *call, struct al_str *out);

/** The abbreviated form of an object id, as every answer shows it: 8 digits.  Not ended by NUL. */
#define AL_SHORT_ID 8

#endif
