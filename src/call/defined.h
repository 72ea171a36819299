// SPDX-License-Identifier: Apache-2.0
/*
 * The view that a user is shown of a call of a tool that another MCP server defines.
 *
 * Title and arguments are not airlock's: the title is the server's, the arguments are the agent's.
 * Both are shown with nothing removed, each within its own bounds, so neither can push the other
 * away.
 */
#ifndef AL_CALL_DEFINED_H
#define AL_CALL_DEFINED_H

#include <stdbool.h>

#include "call/tool.h"

/** The most arguments that a user can be asked about. */
#define AL_DEFINED_ARGUMENTS_MAX 64

/** Append 'Call "Title" of SERVER with {"name":"value"}', one line for
 * al_text_sanitize_shown_line(). It goes into the journal as well, so it has `[redacted]` in place
 * of secrets.  Long arguments are cut. */
void al_defined_summarize(const struct al_defined_args *args, const char *server,
                          struct al_str *out);

/**
 * Append the arguments as safe text: first each in one line, then the long ones, indented.
 *
 * @param in_full  Show long arguments to their end; otherwise an excerpt.
 * @return 0, or AL_ERR_BAD_ARGS for more than AL_DEFINED_ARGUMENTS_MAX of them.
 */
int al_defined_preview(const struct al_defined_args *args, bool in_full, struct al_str *out,
                       struct al_error *err);

#endif
