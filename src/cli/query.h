// SPDX-License-Identifier: Apache-2.0
/* Which lines of the journal a person wants to see, and how. */
#ifndef AL_CLI_QUERY_H
#define AL_CLI_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/when.h"

struct al_query {
    const char *tool;         /**< NULL: any; borrowed from the command line */
    char since[AL_WHEN_TEXT]; /**< as the journal's "time"; "" for the beginning */
    size_t last;              /**< 0: all */
    bool json, verify, follow, running;
};

/** Read the words of `airlock log`.  An exit code; what is wrong has been said. */
int al_query_parse(struct al_query *query, int argc, char **argv);

/** Whether a tool has this name, in whichever toolset; and say that none has, with the name that
 * was meant.  The exit code. */
bool al_query_tool_exists(const char *name);
int al_query_unknown_tool(const char *name);

/** A number of executions: 1 to 1,000,000,000, digits only. */
bool al_query_number(const char *text, size_t *ret_number);

/** Whether a line of the journal is asked for. */
bool al_query_matches(const struct al_query *query, const char *text, size_t len);

#endif
