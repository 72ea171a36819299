// SPDX-License-Identifier: Apache-2.0
/*
 * POST: one message, or a batch of the revision that has batches.
 *
 * The body is parsed and served on a thread of the pool, which then runs the call that the message
 * makes.  Messages of one session are served one after the other, and those of one token on a few
 * threads only (mcp/http/lanes.h).
 */
#ifndef AL_MCP_HTTP_POST_H
#define AL_MCP_HTTP_POST_H

#include <stdbool.h>

struct al_endpoint;
struct al_http_exchange;
struct al_principal;
struct al_stream;

/** Serve a POST whose stream is the data of its exchange.  Never blocks.  Takes references of its
 * own.  False: too many messages of the principal wait, and nothing was done. */
bool al_post_submit(struct al_endpoint *endpoint, struct al_principal *principal,
                    struct al_http_exchange *exchange, struct al_stream *stream);

/** Have a queued call run, if one may run. */
void al_post_submit_queued(struct al_endpoint *endpoint);

/** Cancel what a modern stream has, whose client has gone. */
void al_post_cancel(struct al_endpoint *endpoint, struct al_stream *stream);

#endif
