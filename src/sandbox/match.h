// SPDX-License-Identifier: Apache-2.0
/* Patterns of paths. */
#ifndef AL_SANDBOX_MATCH_H
#define AL_SANDBOX_MATCH_H

#include <stdbool.h>

/** Test whether a pattern matches a path; see al_sandbox_list(). */
bool al_sandbox_match(const char *pattern, const char *path);

/** What to add to the message that a pattern matches nothing, if it looks as if a shell was to
 * expand it: "; '{…}' is not expanded, …".  Else "". */
const char *al_sandbox_pattern_hint(const char *pattern);

#endif
