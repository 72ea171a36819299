// SPDX-License-Identifier: Apache-2.0
/*
 * POST: one message, or a batch of the revision that has batches.
 *
 * The body is parsed and served on a thread of the pool.  Messages of one session are served one
 * after the other, and those of one token on a few threads only.
 */
#ifndef AL_MCP_HTTP_POST_H
#define AL_MCP_HTTP_POST_H

struct al_account;
struct al_endpoint;
struct al_http_exchange;
struct al_stream;

/** Serve a POST whose stream is the data of its exchange, or answer that too many messages of the
 * account wait.  Never blocks.  Takes references of its own. */
void al_post_submit(struct al_endpoint *endpoint, struct al_account *account,
                    struct al_http_exchange *exchange, struct al_stream *stream);

/** Cancel what a modern stream has, whose client has gone. */
void al_post_cancel(struct al_endpoint *endpoint, struct al_stream *stream);

#endif
