// SPDX-License-Identifier: Apache-2.0
/*
 * Checks the JSON Schemas of an upstream server's tools, which airlock passes on to its clients.
 *
 * A client compiles all result schemas of a list at once, so a single one that does not compile can
 * cost it every tool.  The check therefore refuses what compilers refuse: keywords of a wrong type,
 * types that do not exist, references that lead nowhere or to the network.
 *
 * Source: JSON Schema draft-07 and 2020-12.
 */
#ifndef AL_UPSTREAM_SCHEMA_H
#define AL_UPSTREAM_SCHEMA_H

#include <stdbool.h>

#include "util/json.h"

/**
 * Check a schema of arguments or results.
 *
 * @param patterns  It may have regular expressions.  Clients do not compile those of arguments, and
 *                  which ones a client can compile is not for airlock to know.
 * @return what is wrong, as a phrase ("is no object"), a string constant; NULL: nothing.
 */
const char *al_upstream_schema_problem(json_t *schema, bool patterns);

#endif
