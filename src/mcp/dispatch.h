// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the method of a message and answers it, for both eras of MCP.
 *
 * The era of each message follows from its own content (mcp/request_meta.h), never from earlier
 * messages.  The result of the legacy handshake applies to legacy messages only.
 */
#ifndef AL_MCP_DISPATCH_H
#define AL_MCP_DISPATCH_H

#include <stdbool.h>

#include "mcp/calls.h"
#include "mcp/client_request.h"
#include "mcp/listing.h"
#include "mcp/request_state.h"
#include "tool/call.h"
#include "wire/protocol_version.h"

/** ttlMs of results that never change while the server runs. */
#define AL_DISPATCH_TTL_MS 3600000

/** tools/list of one era, for a session with mounted tools. */
struct al_list_request {
    struct al_dispatch *dispatch;
    enum al_era era;
};

struct al_dispatch {
    const struct al_session *session;
    char *info;  /**< serverInfo, a JSON object */
    char *meta;  /**< the member of a modern _meta that holds serverInfo */
    char *tools; /**< the member "tools" of the result of tools/list; NULL: there
                    are mounted tools, and `listing` makes it */
    struct al_listing listing;
    struct al_list_request list_legacy, list_modern;
    char *instructions;            /**< for the model, a JSON string */
    struct al_result_extra modern; /**< what every modern result adds */
    struct al_request_states request_states;
    struct al_client_requests client_requests;
    struct al_calls calls;

    /* The result of the last initialize request.  Only the leader touches these. */
    const struct al_revision *revision;
    enum al_approval_form form;
    bool sampling; /**< the client offers sampling/createMessage */
    char *client;  /**< the client's name, safe text; NULL: none */
};

/** `version` is that of airlock.  0 or AL_ERR_EXECUTION. */
int al_dispatch_init(struct al_dispatch *dispatch, const struct al_session *session,
                     const char *version, struct al_message_writer *out, struct al_error *err);

/** Cancel every call, and every call that is registered later. */
void al_dispatch_close(struct al_dispatch *dispatch);

/** Only after the last call has ended and the last message was served. */
void al_dispatch_clear(struct al_dispatch *dispatch);

/** Test whether the agreed revision allows batches. */
bool al_dispatch_takes_batches(const struct al_dispatch *dispatch);

/**
 * Serve one message.  `reply` is used exactly once, now or when the call ends.  Threads: one at a
 * time (the leader).
 * @return a call for the caller to admit and run; NULL: the message is served.
 */
struct al_inflight *al_dispatch_message(struct al_dispatch *dispatch,
                                        const struct al_rpc_message *message,
                                        struct al_reply reply);

#endif
