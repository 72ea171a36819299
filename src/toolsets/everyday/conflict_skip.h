// SPDX-License-Identifier: Apache-2.0
/* The commit at which a rebase, a pick or a revert stopped: leaving it out. */
#ifndef AL_TOOLSETS_EVERYDAY_CONFLICT_SKIP_H
#define AL_TOOLSETS_EVERYDAY_CONFLICT_SKIP_H

#include "tool/call.h"
#include "util/str.h"

/** The id of the commit at which it stopped; "" if it cannot be told.  Caller frees. */
char *al_stopped_commit(const struct al_repo *repo);

/** Append which commit is left out, and the changes that are lost with it. */
int al_skip_preview(struct al_call *call, struct al_str *out, struct al_error *err);

/** The commit at which it stopped, if nothing of it is left: a rebase leaves it out, the others
 * cannot go on.  NULL: it is something else.  Caller frees. */
char *al_emptied_commit(struct al_call *call);

#endif
