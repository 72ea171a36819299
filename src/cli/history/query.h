// SPDX-License-Identifier: Apache-2.0
/* The command line of `airlock log`: a selection of journal lines and a form of output. */
#ifndef AL_CLI_HISTORY_QUERY_H
#define AL_CLI_HISTORY_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

struct al_query {
    const char *agent;   /**< borrowed from the command line; NULL: any agent */
    const char *tool;    /**< borrowed from the command line; NULL: any tool */
    const char *session; /**< borrowed from the command line; NULL: any session */
    char *top;           /**< only what is not of a repository elsewhere; NULL: everything */
    int64_t since_ms;    /**< since 1970; 0: from the beginning */
    size_t last;         /**< number of lines, counted from the end; 0: all */
    bool json, verify, follow, running;
};

/** Complete what the options of `airlock log` say by the value of --since, which may be NULL, and
 * by the other words.  Returns an exit code; an error has been reported. */
int al_query_check(struct al_query *query, const char *since, int argc, char **argv);

/** Test whether a tool of any toolset has this name, or it is "rollback". */
bool al_query_tool_exists(const char *name);

/** Report that no tool has this name, with the nearest name.  Returns the exit code. */
int al_query_unknown_tool(const char *name);

/** Read a number of executions, 1 to 1,000,000,000.  Returns false for anything else. */
bool al_query_number(const char *text, size_t *ret_number);

/**
 * Find the executions in a repository from one on.
 *
 * @param what       The number of the first one; the label of one, of which the newest counts; or a
 *                   time, as for `airlock log --since`.
 * @param[out] ret_seqs  Their numbers, oldest first.  The caller frees them.
 * @param[out] ret_elsewhere  The repository that the execution with the number was in, if that is
 *                       another one.  The caller frees it; it is NULL before.
 * @return Their number; 0: there is none.
 */
size_t al_query_from(const char *journal_file, const char *top, const char *what,
                     uint64_t **ret_seqs, char **ret_elsewhere);

/** Test whether the query selects a call by its tool, its agent and its session. */
bool al_query_matches_call(const struct al_query *query, const json_t *call);

/** Test whether the query selects a line of the journal. */
bool al_query_matches(const struct al_query *query, const char *text, size_t len);

#endif
