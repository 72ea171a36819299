// SPDX-License-Identifier: Apache-2.0
/* The `instructions` of an MCP server: text for the model. */
#ifndef AL_MCP_INSTRUCTIONS_H
#define AL_MCP_INSTRUCTIONS_H

struct al_session;

/** The longest text: every client puts it before the user's first word. */
#define AL_INSTRUCTIONS_MAX_BYTES 800u

/** The instructions of a session as a JSON string: what its tools do, how to work with them, which
 * parameter selects the repository, and the rules.  Only tools and parameters of the session are
 * named.  With many toolsets, what the tools' own descriptions say as well is left out.  Caller
 * frees. */
char *al_instructions_text(const struct al_session *session);

#endif
