// SPDX-License-Identifier: Apache-2.0
/* Remedies for failures that depend on the call: its arguments, its repository, its session. */
#ifndef AL_TOOL_HINT_H
#define AL_TOOL_HINT_H

struct al_call;
struct al_error;

/** One line of safe text for the caller; NULL when there is no hint.  Caller frees. */
char *al_call_hint(const struct al_call *call, const struct al_error *error);

#endif
