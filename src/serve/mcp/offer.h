// SPDX-License-Identifier: Apache-2.0
/*
 * What a session offers to each of its clients: tools, instructions, and approvals that come with a
 * later request.
 *
 * One offer serves all clients that have the same grant: the one on standard input, or all clients
 * of one token.
 */
#ifndef AL_SERVE_MCP_OFFER_H
#define AL_SERVE_MCP_OFFER_H

#include <stdbool.h>

#include "serve/mcp/input_required.h"

struct al_mounted_list;
struct al_session;

struct al_offer {
    const struct al_session *session;
    bool is_private;    /**< it depends on who asks, so caches may not share it */
    char *tools;        /**< the member "tools" of the result of tools/list; NULL: there are mounted
                           tools, and tools/list makes it */
    char *instructions; /**< for the model, a JSON string */
    struct al_request_states request_states;
};

/** `session` is borrowed. */
void al_offer_init(struct al_offer *offer, const struct al_session *session, bool is_private);
void al_offer_clear(struct al_offer *offer);

/** The member `"tools":[…]` for the session's registry and these mounted tools (NULL: none), which
 * come after the native ones.  Caller frees. */
char *al_tools_list_text(const struct al_session *session, const struct al_mounted_list *mounted);

#endif
