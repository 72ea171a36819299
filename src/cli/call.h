// SPDX-License-Identifier: Apache-2.0
/* One call from the command line. */
#ifndef AL_CLI_CALL_H
#define AL_CLI_CALL_H

#include <stdbool.h>

#include "cli/setup.h"
#include "tool/call.h"
#include "util/json.h"

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

#endif
