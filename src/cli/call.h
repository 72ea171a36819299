// SPDX-License-Identifier: Apache-2.0
/* One call from the command line. */
#ifndef AL_CLI_CALL_H
#define AL_CLI_CALL_H

#include <stdbool.h>

#include "base/json.h"
#include "call/call.h"
#include "cli/setup.h"

struct al_cancel;

/** Pulls that run on a thread of their own. */
struct al_auto_pulling;

/**
 * Set up a session for one call.  al_setup_clear() follows in every case.
 *
 * @param command        Name of the command, for error messages ("call").
 * @param argc, argv     The tool's name and its arguments, as in the command line.
 * @param ret_tool       Borrowed from the setup.
 * @param ret_arguments  The caller owns the reference.
 * @return 0; AL_ERR_BAD_ARGS for wrong words, configuration or roots; other errors of
 *         al_setup_session().
 */
int al_prepare_call(struct al_setup *setup, const char *command, const struct al_options *options,
                    int argc, char **argv, const struct al_listed_tool **ret_tool,
                    json_t **ret_arguments, struct al_error *err);

/**
 * Run a call that al_prepare_call() prepared: ask on the terminal, print the result.
 *
 * @param json  Print the whole result object.
 * @param show  Prints the result of a call that did not fail, without `json`.  The exit code then
 *              also tells whether anything was done.  NULL: its text is printed.
 * @return The exit code.
 */
int al_cli_run_call(struct al_setup *setup, const struct al_listed_tool *tool,
                    const json_t *arguments, bool json,
                    void (*show)(const struct al_result *result));

/**
 * Pull the files that the worker file names into the sandbox, one call of git_pull for each, which
 * is checked and journaled like any other.  Standard error names files that cannot be pulled.
 *
 * @param cancel  Borrowed.
 */
void al_auto_pull(const struct al_setup *setup, struct al_cancel *cancel);

/** Begin to pull in the background.  NULL when there is nothing to pull.  The setup is borrowed
 * until al_auto_pull_end(). */
struct al_auto_pulling *al_auto_pull_begin(const struct al_setup *setup);

/** A token that fires when the pulls have ended; NULL for NULL.  Borrowed. */
const struct al_cancel *al_auto_pull_ended(const struct al_auto_pulling *pulling);

/** Cancel what still runs, wait for its end, and free it; NULL is fine. */
void al_auto_pull_end(struct al_auto_pulling *pulling);

#endif
