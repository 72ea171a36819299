// SPDX-License-Identifier: Apache-2.0
/* What the words of git_checkout mean, for each toolset that has it. */
#ifndef AL_TOOLSETS_CHECKOUT_H
#define AL_TOOLSETS_CHECKOUT_H

#include "gitops/verbs.h"
#include "tool/call.h"
#include "tool/resolved.h"

/** For a tool's `resolve`: the branch or the commit that git would go to. */
int al_resolve_checkout(struct al_call *call, const char *word, struct al_resolved *out,
                        struct al_error *err);

/** Where to go by what was resolved: the branch by its name, a commit by its id.  The word itself
 * stays where git may guess, or is to complain. */
void al_resolved_checkout(const struct al_call *call, const char *word,
                          struct al_checkout_options *options);

#endif
