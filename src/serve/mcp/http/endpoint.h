// SPDX-License-Identifier: Apache-2.0
/*
 * MCP over HTTP: the endpoint `/mcp`, for all tokens of a server.
 *
 *   request           legacy                                        modern
 *   POST initialize   makes a session, whose id is a header         404
 *   POST a request    needs the session's id                        needs the headers of its
 * content GET               the session's own stream, or resumes one      405 DELETE ends the
 * session                              405 the client goes   its calls go on its call is cancelled
 *
 * The asker is decided before: each token has an account.  Sessions, calls and streams are found
 * among those of one account only.
 *
 * Order at the end: al_endpoint_drain() while the HTTP server still runs, then end the HTTP server,
 * then al_endpoint_free().
 *
 * Source: MCP 2025-06-18, 2025-11-25 and 2026-07-28, "Streamable HTTP"; docs/PROTOCOL.md.
 */
#ifndef AL_SERVE_MCP_HTTP_ENDPOINT_H
#define AL_SERVE_MCP_HTTP_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct al_account; /**< a token: what it may do, and all that its clients have */
struct al_endpoint;
struct al_http_exchange;
struct al_mounts;
struct al_session;

struct al_endpoint_options {
    const char *version;          /**< of airlock, for serverInfo */
    struct al_mounts *mounts;     /**< that every account's session has; NULL: none */
    size_t calls;                 /**< calls in flight at once; one more is 429 */
    size_t calls_per_token;       /**< the same for each account */
    size_t sessions_per_token;    /**< legacy sessions of each account; one more is 429 */
    size_t connections_per_token; /**< that an account can have.  Its messages are about as many,
                                       from their last byte until they are served, also those whose
                                       clients have left; one more is 429 */
    size_t event_bytes_per_token; /**< of events that are kept for clients that lost a connection */
    size_t body_bytes_per_token;  /**< of these messages; one more is 429 */
    size_t argument_bytes_per_token; /**< of calls in flight, by al_json_bytes(); one more is 429 */
    int idle_s;                      /**< a legacy session that is not used for this long ends */
    int drain_s;                     /**< how long al_endpoint_drain() waits for calls */
};

/** Make an endpoint and its first threads.  The strings and pointers in the options are borrowed.
 * 0 or AL_ERR_EXECUTION. */
int al_endpoint_new(const struct al_endpoint_options *options, struct al_endpoint **ret_endpoint,
                    struct al_error *err);

/**
 * Make an account, with a reference for the caller.
 *
 * @param session  Copied.  Its pointers stay valid until `release` is called.  `approvals` is not
 *                 looked at: every MCP session has its own.
 * @param release  Called with the copy after the last reference is gone; may be NULL.
 */
struct al_account *al_account_new(struct al_endpoint *endpoint, const struct al_session *session,
                                  void (*release)(struct al_session *session));

/** Take another reference.  Returns `account`.  Threads: safe. */
struct al_account *al_account_ref(struct al_account *account);

/** Drop a reference; NULL is fine.  Threads: safe. */
void al_account_unref(struct al_account *account);

/** A number that no other account of the process has or had; not 0. */
uint64_t al_account_number(const struct al_account *account);

/** The token was removed: end its sessions and cancel its calls.  Again: nothing.  Threads: that
 * which makes accounts. */
void al_account_end(struct al_account *account);

/**
 * Serve a request for `/mcp` whose body is complete.  Call it in `on_request` of struct
 * al_http_handler; never blocks.  From here on the data of the exchange belongs to the endpoint.
 *
 * @param account  Who asks.  The endpoint takes references of its own.
 */
void al_endpoint_request(struct al_endpoint *endpoint, struct al_account *account,
                         struct al_http_exchange *exchange);

/** The `on_gone` of an exchange that al_endpoint_request() got. */
void al_endpoint_gone(struct al_endpoint *endpoint, struct al_http_exchange *exchange);

/** The `on_end` of an exchange that al_endpoint_request() got. */
void al_endpoint_end(struct al_endpoint *endpoint, struct al_http_exchange *exchange);

/** The number of calls that have no answer yet.  Threads: safe. */
size_t al_endpoint_count_calls(struct al_endpoint *endpoint);

/** Begin no new calls, wait `drain_s` for those in flight, cancel the rest, and end all streams and
 * sessions.  Threads: any but the HTTP thread. */
void al_endpoint_drain(struct al_endpoint *endpoint);

/** After al_endpoint_drain() and the end of the HTTP server.  NULL is fine. */
void al_endpoint_free(struct al_endpoint *endpoint);

#endif
