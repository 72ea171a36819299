// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the method of a message and answers it, for both eras of MCP.
 *
 * The era of each message follows from its own content (serve/mcp/reply.h), never from earlier
 * messages.  The result of the legacy handshake applies to legacy messages only.
 *
 * Clients learn that the list of tools has changed:
 *
 *   client   is told by                                       when
 *   legacy   notifications/tools/list_changed                 after its initialize
 *   modern   the same, with the id of its subscription        it sent subscriptions/listen
 *
 * A client is told once, and again only after it has listed the tools: a server that changes its
 * list all the time costs each client no more than it asks for.
 *
 * There is one dispatch for each client: the one on standard input, a legacy session over HTTP, or
 * all modern requests of one token over HTTP.  They share struct al_service and struct al_offer.
 *
 * Source: MCP "Tools"; 2026-07-28, "Subscriptions".
 */
#ifndef AL_SERVE_MCP_DISPATCH_H
#define AL_SERVE_MCP_DISPATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/protocol_version.h"
#include "call/call.h"
#include "serve/mcp/calls.h"
#include "serve/mcp/input_required.h"

/** ttlMs of results that never change while the server runs. */
#define AL_DISPATCH_TTL_MS 3600000

/** ttlMs of results that depend on the client's token, whose grant the user may change. */
#define AL_DISPATCH_PRIVATE_TTL_MS 60000

/** The longest wait of the first tools/list for servers that start. */
#define AL_LISTING_WAIT_MS 2000

/** Subscriptions at once of one client, or of all modern clients of a token. */
#define AL_SUBSCRIPTIONS_MAX 16

struct al_mounts;

/** The offer of a session to each of its clients: tools, instructions, and approvals that come with
 * a later request.  One offer serves all clients that have the same grant: the one on standard
 * input, or all clients of one token. */
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

/** The parts that all clients of a server share, whatever they may do: its calls, its name, and the
 * news about its list of tools. */
struct al_service {
    char *info;                    /**< serverInfo, a JSON object */
    char *meta;                    /**< the member of a modern _meta that holds serverInfo */
    struct al_result_extra modern; /**< what every modern result adds */
    struct al_mounts *mounts;      /**< NULL: nothing is ever told */
    pthread_mutex_t lock;          /**< guards the list, and what its members say it does */
    struct al_dispatch *first;     /**< of all clients */
    struct al_calls calls;
};

/** `version` is that of airlock; `mounts` may be NULL. */
void al_service_init(struct al_service *service, const char *version, struct al_mounts *mounts,
                     const struct al_calls_options *calls);

/** Only after the last call has ended and the last dispatch was cleared. */
void al_service_clear(struct al_service *service);

struct al_dispatch {
    struct al_service *service;
    struct al_offer *offer;
    struct al_message_sink *out; /**< for messages that belong to no request; NULL: none */
    struct al_call_scope scope;

    /* The lock of the service guards these. */
    struct al_dispatch *next;
    struct al_message_sink *legacy; /**< of a client that has sent initialize, else NULL */
    bool is_listed; /**< a list was sent, or is about to be, since the last notification */
    struct al_subscription {
        char *id; /**< as JSON text */
        struct al_message_sink *sink;
        bool wants; /**< it is told of changes of the list of tools */
    } subscriptions[AL_SUBSCRIPTIONS_MAX];
    size_t nsubscriptions;

    /* The result of the last initialize request.  Only the thread that serves a message touches
     * these. */
    const struct al_revision *revision;
    enum al_approval_form form;
    bool sampling; /**< the client offers sampling/createMessage */
    char *client;  /**< the client's name, safe text; NULL: none */
};

/**
 * Set up a client's dispatch; `out`, and the members of `scope` that it may have, are the caller's
 * to set.  All of these are borrowed.
 *
 * @param session  For the calls: that of the offer, or a copy of it whose "always" answers are the
 *                 client's own.
 */
void al_dispatch_init(struct al_dispatch *dispatch, struct al_service *service,
                      struct al_offer *offer, const struct al_session *session);

/** Only after the last call has ended and the last message was served. */
void al_dispatch_clear(struct al_dispatch *dispatch);

/** End the subscriptions with this id, or those of a sink, which is not used any more afterwards;
 * the other one is NULL.  Threads: any. */
void al_dispatch_unsubscribe(struct al_dispatch *dispatch, const char *id,
                             const struct al_message_sink *sink);

/** End every subscription, and call `end` for the sink of each, with the lock of the service.
 * Threads: any. */
void al_dispatch_end(struct al_dispatch *dispatch, void (*end)(struct al_message_sink *sink));

/** Say on which sink a legacy client is told; NULL: on none any more.  Threads: any. */
void al_dispatch_set_legacy(struct al_dispatch *dispatch, struct al_message_sink *sink);

/** Why an array of messages is not served, as a sentence; NULL: it is. */
const char *al_dispatch_batch_problem(const struct al_dispatch *dispatch,
                                      const struct al_rpc_doc *doc);

/** Serve an array of messages, and answer it on the sink with one array, when the last of its calls
 * has ended.  Threads: one at a time. */
void al_dispatch_batch(struct al_dispatch *dispatch, const struct al_rpc_doc *doc,
                       struct al_message_sink *sink);

/**
 * Serve one message.  `sink` gets exactly one answer, now or when the call ends.  Threads: one at a
 * time.
 */
void al_dispatch_message(struct al_dispatch *dispatch, const struct al_rpc_message *message,
                         struct al_message_sink *sink);

#endif
