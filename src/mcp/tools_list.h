// SPDX-License-Identifier: Apache-2.0
/* What tools/list says: the same bytes in the same order every time, as prompt caches like it. */
#ifndef AL_MCP_TOOLS_LIST_H
#define AL_MCP_TOOLS_LIST_H

struct al_session;

/** The member `"tools":[…]` for the session's registry.  Caller frees. */
char *al_tools_list_text(const struct al_session *session);

#endif
