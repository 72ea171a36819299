// SPDX-License-Identifier: Apache-2.0
/* The branch here and there, for git_pull and git_push. */
#ifndef AL_TOOLSETS_EVERYDAY_REMOTE_BRANCH_H
#define AL_TOOLSETS_EVERYDAY_REMOTE_BRANCH_H

#include "tool/call.h"

/** The branch that HEAD is on; a failure that says what to do when it is on none.  Caller frees. */
int al_everyday_current_branch(struct al_call *call, char **ret_branch, struct al_error *err);

/** The remote to use when none is given: that of the branch's upstream, else "origin", else the
 * only one.  Caller frees. */
char *al_everyday_default_remote(struct al_call *call, const char *branch);

/** Test whether this session has pushed a branch to an address, and remember that it has. */
bool al_everyday_was_pushed(struct al_call *call, const char *address, const char *branch);
void al_everyday_note_pushed(struct al_call *call, const char *address, const char *branch);

#endif
