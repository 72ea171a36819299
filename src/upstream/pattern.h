// SPDX-License-Identifier: Apache-2.0
/* Tells whether a regular expression of a schema is surely one that a client can compile. */
#ifndef AL_UPSTREAM_PATTERN_H
#define AL_UPSTREAM_PATTERN_H

#include <stdbool.h>

/** Test a regular expression of ECMA-262 with the flag u.  What is doubtful counts as wrong. */
bool al_upstream_is_pattern(const char *pattern);

#endif
