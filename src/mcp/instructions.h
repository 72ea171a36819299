// SPDX-License-Identifier: Apache-2.0
/* What a model reads before it calls anything. */
#ifndef AL_MCP_INSTRUCTIONS_H
#define AL_MCP_INSTRUCTIONS_H

struct al_session;

/** The instructions of a session as a JSON string: what its tools do, how they are told where to
 * work, and the rules.  They speak of no tool and no parameter that it does not have.  Caller
 * frees. */
char *al_instructions_text(const struct al_session *session);

#endif
