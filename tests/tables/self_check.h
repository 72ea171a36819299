// SPDX-License-Identifier: Apache-2.0
/* Faults in a tool's tables. */
#ifndef TESTS_TABLES_SELF_CHECK_H
#define TESTS_TABLES_SELF_CHECK_H

#include "call/tool.h"

/** The first fault in a tool's tables; NULL when there is none.  Caller frees. */
char *al_tool_self_check(const struct al_tool *tool);

/** The fault of a pattern ("is not anchored"), NULL if there is none.  Caller frees.
 *
 * A schema publishes patterns as ECMA-262 and the decoder runs them as POSIX extended regular
 * expressions, so they keep to the subset that means the same in both. */
char *al_pattern_fault(const char *pattern);

/** Test whether the first choice of a tool has this name. */
bool al_tool_has_action(const struct al_tool *tool, const char *name);

#endif
