// SPDX-License-Identifier: Apache-2.0
/*
 * The shell syntax that is refused by name.
 *
 * Each check looks at one place of a command line.  It returns 0, or AL_ERR_BAD_ARGS with a message
 * that names the syntax and an alternative.
 */
#ifndef AL_TOOLSETS_SHELL_UNSUPPORTED_H
#define AL_TOOLSETS_SHELL_UNSUPPORTED_H

#include <stdbool.h>

#include "util/error.h"

/** The error "<what> is not allowed: <why>". */
int al_shell_unsupported(const char *what, const char *why, struct al_error *err);

/** Check a whole line for newlines and control characters. */
int al_shell_check_characters(const char *line, struct al_error *err);

/** Check for an operator other than '|' and plain redirects, outside of quotes. */
int al_shell_check_operator(const char *at, struct al_error *err);

/** Check a '$'.  It is allowed where bash would not expand it. */
int al_shell_check_dollar(const char *at, bool in_double_quotes, struct al_error *err);

/** Check a '{' outside of quotes.  It is allowed where bash would not expand braces. */
int al_shell_check_brace(const char *at, struct al_error *err);

#endif
