// SPDX-License-Identifier: Apache-2.0
/* What the words of git_checkout mean, for each toolset that has it. */
#ifndef AL_TOOLSETS_CHECKOUT_H
#define AL_TOOLSETS_CHECKOUT_H

#include "gitops/porcelain/checkout.h"
#include "gitops/sequencer/operation_state.h"
#include "tool/call.h"
#include "tool/resolved.h"

/** For a tool's `resolve`: the branch or the commit that git would go to. */
int al_resolve_checkout(struct al_call *call, const char *word, struct al_resolved *out,
                        struct al_error *err);

/** Where to go by what was resolved: the branch by its name, a commit by its id.  The word itself
 * stays where git may guess, or is to complain. */
void al_resolved_checkout(const struct al_call *call, const char *word,
                          struct al_checkout_options *options);

/** What a switch leaves behind. */
struct al_switch_origin {
    enum al_operation_state operation; /**< what was in progress before the switch */
    char *commit;                      /**< that HEAD was at */
};

void al_switch_origin_clear(struct al_switch_origin *origin);

/** What is in progress now, and where HEAD is. */
struct al_switch_origin al_switch_origin_get(const struct al_call *call);

/** For a preview: one line about what is in progress, which a switch does not finish; nothing where
 * nothing is. */
void al_switch_preview_operation(const struct al_call *call, struct al_str *out);

/** After a switch: one line about what was in progress, and how to get back to it or give it up. */
void al_switch_note_operation(const struct al_call *call, const struct al_switch_origin *origin,
                              struct al_result *result);

#endif
