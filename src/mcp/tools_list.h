// SPDX-License-Identifier: Apache-2.0
/* The result of tools/list: the same tools are always the same bytes, so that prompt caches stay
 * valid. */
#ifndef AL_MCP_TOOLS_LIST_H
#define AL_MCP_TOOLS_LIST_H

struct al_mounted_list;
struct al_session;

/** The member `"tools":[…]` for the session's registry and these mounted tools (NULL: none), which
 * come after the native ones.  Caller frees. */
char *al_tools_list_text(const struct al_session *session, const struct al_mounted_list *mounted);

#endif
