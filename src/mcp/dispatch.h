// SPDX-License-Identifier: Apache-2.0
/*
 * From a message to the method that answers it, for both eras.
 *
 * A message is served by the rules its own content asks for (mcp/envelope.h), whatever was spoken
 * before.  What the legacy handshake agreed on is remembered for legacy messages alone.
 */
#ifndef AL_MCP_DISPATCH_H
#define AL_MCP_DISPATCH_H

#include <stdbool.h>

#include "mcp/calls.h"
#include "mcp/client_request.h"
#include "mcp/request_state.h"
#include "mcp/revision.h"
#include "tool/call.h"

/** How long a client may keep what never changes while the server runs. */
#define AL_DISPATCH_TTL_MS 3600000

struct al_dispatch {
    const struct al_session *session;
    char *info;         /**< who answers, an object */
    char *meta;         /**< the member of a modern _meta that says so */
    char *tools;        /**< the member "tools" of tools/list */
    char *instructions; /**< what the model reads first, a JSON string */
    struct al_result_extra modern;
    struct al_request_states request_states;
    struct al_client_requests client_requests;
    struct al_calls calls;

    /* What the last initialize agreed on; of whoever has the turn to read. */
    const struct al_revision *revision;
    enum al_approval_form form;
    bool sampling; /* its model writes when asked */
};

/** `version` is airlock's.  0 or AL_ERR_EXECUTION. */
int al_dispatch_init(struct al_dispatch *dispatch, const struct al_session *session,
                     const char *version, struct al_message_writer *out, struct al_error *err);

/** Cancel every call, and all that would still begin. */
void al_dispatch_close(struct al_dispatch *dispatch);

/** When no call runs and no message comes any more. */
void al_dispatch_clear(struct al_dispatch *dispatch);

/** Whether a line may be an array of messages now. */
bool al_dispatch_takes_batches(const struct al_dispatch *dispatch);

/**
 * Serve one message; `reply` is used once, now or later.  Messages come one after the other, from
 * any thread.
 * @return a call for the caller to run; NULL when there is nothing more to do.
 */
struct al_inflight *al_dispatch_message(struct al_dispatch *dispatch,
                                        const struct al_rpc_message *message,
                                        struct al_reply reply);

#endif
