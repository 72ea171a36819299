// SPDX-License-Identifier: Apache-2.0
/* The calls in other working trees, from the journal. */
#ifndef AL_TOOL_WORKTREE_CALLS_H
#define AL_TOOL_WORKTREE_CALLS_H

#include <stddef.h>

struct al_call;

/** A call that runs in the working tree `top`, in any process, other than this one: "git_commit of
 * agent x (process 4711)".  NULL: there is none.  Safe text.  Caller frees. */
char *al_call_running_in(const struct al_call *call, const char *top);

/**
 * The last call in each of these working trees that the current file of the journal has:
 * "git_commit of agent x, 2026-01-31T10:00:00.000Z".
 *
 * @param ret_words  One for each; NULL: there is none.  Safe text.  The caller frees them.
 */
void al_call_last_in(const struct al_call *call, const char *const *tops, size_t ntops,
                     char **ret_words);

#endif
