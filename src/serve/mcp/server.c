// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/server.h"

#include <poll.h>
#include <sys/eventfd.h>

#include "base/error.h"
#include "base/jsonrpc.h"
#include "base/log.h"
#include "base/reader.h"
#include "base/writer.h"
#include "serve/mcp/calls.h"
#include "serve/mcp/dispatch.h"
#include "serve/mcp/pool.h"
#include "serve/mcp/reply.h"

/* After the end of input, a client that reads none of the answers for this long gets no more. */
#define DRAIN_MS 1000

struct server {
    const struct al_mcp_options *options;
    struct al_reader reader;
    struct al_message_writer out;
    struct al_pool *pool;
    struct al_service service;
    struct al_offer offer;
    struct al_dispatch dispatch;
};

static void serve_line(struct server *server, const char *line, size_t len)
{
    al_auto(al_rpc_doc_clear) struct al_rpc_doc doc = AL_RPC_DOC_INIT;
    al_auto(al_rpc_message_clear) struct al_rpc_message message = AL_RPC_MESSAGE_INIT;
    struct al_rpc_cursor cursor = AL_RPC_CURSOR_INIT;
    struct al_message_sink *sink = &server->out.sink;
    const char *problem = NULL;
    enum al_rpc_code code = al_rpc_parse(line, len, &doc, &problem);
    al_auto(al_freep) char *id = code != AL_RPC_OK ? al_rpc_broken_id(line, len) : NULL;

    if (code != AL_RPC_OK)
        al_reply_error(sink, id, code, problem);
    else if (al_rpc_doc_is_batch(&doc) &&
             (problem = al_dispatch_batch_problem(&server->dispatch, &doc)))
        al_reply_error(sink, NULL, AL_RPC_INVALID_REQUEST, problem);
    else if (al_rpc_doc_is_batch(&doc))
        al_dispatch_batch(&server->dispatch, &doc, sink);
    else if (al_rpc_doc_next(&doc, &cursor, &message))
        al_dispatch_message(&server->dispatch, &message, sink);
}

static void serve_read(struct server *server)
{
    struct al_message_sink *sink = &server->out.sink;
    const char *line = NULL;
    enum al_line kind;
    size_t len = 0;

    while ((kind = al_reader_next(&server->reader, &line, &len)) != AL_LINE_NONE) {
        if (kind == AL_LINE_TOO_LONG)
            al_reply_error(sink, NULL, AL_RPC_INVALID_REQUEST, "message is longer than 10 MiB");
        else
            serve_line(server, line, len);
    }
}

/* Serve until the end of input, or until the client closes the output; and meanwhile write what is
 * queued, and send progress.  The input is watched for its end only while too much output is
 * queued, since more calls would add output. */
static void serve(struct server *server)
{
    struct al_message_writer *out = &server->out;
    eventfd_t count;

    while (!server->reader.ended && !al_message_writer_dead(out)) {
        /* Progress first, so that what it queues is flushed too. */
        const int timeout_ms = al_calls_progress(&server->service.calls);
        const bool more = al_message_writer_flush(out);
        struct pollfd fds[] = {
            { .fd = server->reader.fd, .events = al_message_writer_full(out) ? POLLRDHUP : POLLIN },
            { .fd = out->wake_fd, .events = POLLIN },
            { .fd = more ? out->fd : -1, .events = POLLOUT },
        };

        if (poll(fds, AL_COUNT(fds), timeout_ms) < 0)
            continue;
        (void)eventfd_read(out->wake_fd, &count);
        if (fds[0].revents & POLLIN)
            al_reader_fill(&server->reader);
        else if (fds[0].revents)
            server->reader.ended = true;
        if (fds[0].revents)
            serve_read(server);
    }
}

/* Make what the messages are served with. */
static int open_service(struct server *server, struct al_error *err)
{
    const struct al_session *session = server->options->session;
    int r = al_pool_new(AL_CALLS_MAX, &server->pool, err);

    if (r < 0)
        return r;
    al_offer_init(&server->offer, session, false);
    al_service_init(&server->service, server->options->version, session->mounts,
                    &(struct al_calls_options){ .ready = server->options->ready,
                                                .max = AL_CALLS_MAX,
                                                .wake_fd = server->out.wake_fd,
                                                .pool = server->pool });
    al_dispatch_init(&server->dispatch, &server->service, &server->offer, session);
    server->dispatch.out = &server->out.sink;
    return 0;
}

/* Serve messages until the end; calls that still run then are cancelled and not answered.  The
 * caller reports a failure to start. */
static int run(struct server *server, struct al_error *err)
{
    int r = open_service(server, err);

    if (r < 0)
        return r;
    serve(server);
    al_calls_close(&server->service.calls);
    al_pool_free(server->pool);
    al_message_writer_drain(&server->out, DRAIN_MS);
    al_dispatch_clear(&server->dispatch);
    al_offer_clear(&server->offer);
    al_service_clear(&server->service);
    return 0;
}

int al_mcp_serve(const struct al_mcp_options *options)
{
    struct server server = { .options = options, .reader = AL_READER_INIT(options->in_fd) };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    server.reader.ended = options->in_fd < 0; /* poll(2) would wait for ever */
    r = al_message_writer_init(&server.out, options->out_fd, &err);
    if (r == 0) {
        r = run(&server, &err);
        al_reader_clear(&server.reader);
        al_message_writer_clear(&server.out);
    }
    if (r < 0)
        al_log_warn("%s", err.message);
    return r;
}
