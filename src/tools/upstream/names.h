// SPDX-License-Identifier: Apache-2.0
/*
 * The names of mounted tools, and which tools are mounted at all.
 *
 * A name is "mcp__SERVER__tool", within what every client and every model accepts: 64 letters,
 * digits, '_' and '-'.  A tool whose name does not fit is left out, since any other name for it
 * would have to be guessed.  The configuration makes sure that SERVER ends at the first "__".
 */
#ifndef AL_TOOLS_UPSTREAM_NAMES_H
#define AL_TOOLS_UPSTREAM_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/** The name of a mounted tool.  Caller frees. */
char *al_mounted_name(const char *server, const char *tool);

/** The length of SERVER in a name of the form "mcp__SERVER__tool"; 0: the name has another form.
 * SERVER begins after AL_MOUNTS_PREFIX. */
size_t al_mounted_server(const char *name);

/** Why the name of a tool does not fit: one line of safe text that begins with it.  NULL: it fits.
 * Caller frees. */
char *al_mounted_refusal(const char *server, const char *tool);

#endif
