// SPDX-License-Identifier: Apache-2.0
/* The output of a command.  A lost output makes the command fail. */
#ifndef AL_CLI_PRINT_H
#define AL_CLI_PRINT_H

#include <stddef.h>

#include "util/error.h"
#include "util/str.h"

/** Columns of the text that commands print about themselves. */
#define AL_CLI_COLUMNS 80

/** Write the output of a command.  The first failure is reported on stderr; EPIPE is none. */
void al_cli_print(int fd, const struct al_str *text);

/** Append text to the last line of `out`, from column `indent` on, in as many lines as needed. */
void al_cli_wrap(struct al_str *out, size_t indent, const char *text);

/** Print "airlock: <line>" to stderr. */
void al_cli_note(const char *line);

/** The same about a wait, for `on_lock_wait` of struct al_session and of struct al_run_limits; NULL
 * says that it is over.  `payload` is ignored. */
void al_cli_note_wait(void *payload, const char *line);

/** Flush stdout.  Returns `code`, or AL_EXIT_FAILED when that is AL_EXIT_OK and output was lost. */
int al_cli_finish(int code);

/** Print "airlock: <message>" and the remedy to stderr.  Returns AL_EXIT_USAGE for AL_ERR_BAD_ARGS
 * and AL_ERR_NOT_FOUND, else AL_EXIT_FAILED. */
int al_cli_fail(const struct al_error *err);

#endif
