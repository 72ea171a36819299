// SPDX-License-Identifier: Apache-2.0
/* What helps after a failure, where only the call knows it. */
#ifndef AL_TOOL_HINT_H
#define AL_TOOL_HINT_H

struct al_call;
struct al_error;

/** One line for the caller, with names of its arguments made safe; NULL where there is none. Caller
 * frees. */
char *al_call_hint(const struct al_call *call, const struct al_error *error);

#endif
