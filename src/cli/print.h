// SPDX-License-Identifier: Apache-2.0
/* The output of a command.  A lost output makes the command fail. */
#ifndef AL_CLI_PRINT_H
#define AL_CLI_PRINT_H

#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/options.h"
#include "cli/setup.h"

struct al_nearest;

/** Columns of the text that commands print about themselves. */
#define AL_CLI_COLUMNS 80

/** Write the output of a command.  The first failure is reported on stderr; EPIPE is none. */
void al_cli_print(int fd, const struct al_str *text);

/** Write a text to standard output. */
void al_printf(1, 2) al_cli_say(const char *fmt, ...);

/** Append text to the last line of `out`, from column `indent` on, in as many lines as needed. */
void al_cli_wrap(struct al_str *out, size_t indent, const char *text);

/** Print "airlock: <line>" to stderr about a wait, for `on_lock_wait` of struct al_session and of
 * struct al_run_limits; NULL says that it is over.  `payload` is ignored. */
void al_cli_note_wait(void *payload, const char *line);

/** Returns `code`, but AL_EXIT_FAILED when that is AL_EXIT_OK and output was lost, and the code of
 * a signal that stopped a command when that failed. */
int al_cli_finish(int code);

/** Print "airlock: <line>" about wrong words to stderr.  Returns AL_EXIT_USAGE. */
int al_printf(1, 2) al_cli_usage(const char *fmt, ...);

/** The same about an unknown word: "<what> '<word>'; did you mean <name>? See …", or without a name
 * that is near, "<what> '<word>'; <see>". */
int al_cli_unknown(const char *what, const struct al_nearest *nearest, const char *see);

/** Print an object, which is taken over, as one line or more of JSON. */
void al_cli_print_json(json_t *object);

/** Whether a list of JSON has this string.  `list` may be NULL or another value. */
bool al_cli_list_has(const json_t *list, const char *text);

/** Print "airlock: <message>" and the remedy to stderr.  Returns AL_EXIT_USAGE for AL_ERR_BAD_ARGS
 * and AL_ERR_NOT_FOUND, else AL_EXIT_FAILED. */
int al_cli_fail(const struct al_error *err);

/** The operations of a tool that ask for approval when no rule decides: "none", "some" or "ask"
 * (all).  In the approval mode "allow" none does; in the mode "deny" whatever changes a repository
 * is, refused, so "deny" stands for "ask".  An operation that is not asked about only because of
 * checkpoints counts as asking without them. */
const char *al_tool_asking(const struct al_tool *tool, const struct al_config *config);

/** The condition under which an operation that is not always asked about asks for approval, as
 * words
 * ("for …").  NULL: it never asks. */
const char *al_operation_condition(const struct al_tool *tool, const struct al_operation *op);

/** Append the help text of a tool. */
void al_tool_show(const struct al_listed_tool *listed, const struct al_tool_defaults *defaults,
                  const struct al_config *config, struct al_str *out);

/** Print all tools of a session with these options, or the help text of the tool `word`.  Defined
 * in tools.c.  Returns the exit code. */
int al_tools_show(const struct al_options *options, const char *word);

/** Print docs/REFERENCE.md.  Defined in reference.c.  Returns the exit code. */
int al_cli_reference(void);

/** The error AL_ERR_BAD_ARGS for a tool that the session does not have: names the nearest tool, or
 * the toolset that has it. */
int al_unknown_tool(const struct al_setup *setup, const char *word, struct al_error *err);

#endif
