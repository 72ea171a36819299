// SPDX-License-Identifier: Apache-2.0
/* Checks the result of a tool, before the rest of airlock sees it. */
#ifndef AL_UPSTREAM_RESULT_H
#define AL_UPSTREAM_RESULT_H

#include "upstream/upstream.h"

/** What is wrong with a result, as a phrase that goes on after the server's name; a string
 * constant. NULL: nothing. */
const char *al_upstream_result_problem(const struct al_upstream_tool *tool, json_t *result);

#endif
