// SPDX-License-Identifier: Apache-2.0
/*
 * The patterns of parameter rows.  A schema publishes them as ECMA-262 and the decoder runs them as
 * POSIX extended regular expressions, so they keep to the subset that means the same in both.
 */
#ifndef AL_TOOL_PATTERN_H
#define AL_TOOL_PATTERN_H

#include <stdbool.h>

/** The fault of a pattern ("is not anchored"), NULL if there is none.  Caller frees. */
char *al_pattern_fault(const char *pattern);

/** Test whether a text matches.  Aborts for a pattern that does not compile: al_pattern_fault() has
 * accepted the patterns of all tools. */
bool al_pattern_matches(const char *pattern, const char *text);

#endif
