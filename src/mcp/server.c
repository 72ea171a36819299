// SPDX-License-Identifier: Apache-2.0
#include "mcp/server.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

#include "mcp/dispatch.h"
#include "mcp/jsonrpc.h"
#include "mcp/out.h"
#include "mcp/pump.h"
#include "mcp/reader.h"
#include "mcp/reply.h"
#include "util/log.h"

/* How long answers may still take to leave once the input has ended. */
#define DRAIN_MS 1000

struct server {
    const struct al_mcp_options *options;
    struct al_reader reader;
    struct al_out out;
    struct al_dispatch dispatch;
    struct al_pump pump;
};

static void handle_batch(struct server *server, const struct al_rpc_doc *doc)
{
    al_auto(al_rpc_message_clear) struct al_rpc_message message = AL_RPC_MESSAGE_INIT;
    struct al_rpc_cursor cursor = AL_RPC_CURSOR_INIT;
    struct al_reply alone = { .out = &server->out };
    struct al_batch *batch;

    if (!al_dispatch_takes_batches(&server->dispatch) || !json_array_size(doc->root)) {
        al_reply_error(alone, NULL, AL_RPC_INVALID_REQUEST,
                       json_array_size(doc->root) ? "batches are part of revision 2025-03-26 only"
                                                  : "the batch is empty");
        return;
    }
    batch = al_batch_new(&server->out);
    while (al_rpc_doc_next(doc, &cursor, &message))
        al_dispatch_message(&server->dispatch, &message, al_batch_expect(batch));
    al_batch_close(batch);
}

static void handle_line(struct server *server, const char *line, size_t len)
{
    al_auto(al_rpc_doc_clear) struct al_rpc_doc doc = AL_RPC_DOC_INIT;
    al_auto(al_rpc_message_clear) struct al_rpc_message message = AL_RPC_MESSAGE_INIT;
    struct al_rpc_cursor cursor = AL_RPC_CURSOR_INIT;
    struct al_reply reply = { .out = &server->out };
    const char *problem = NULL;
    enum al_rpc_code code = al_rpc_parse(line, len, &doc, &problem);

    if (code != AL_RPC_OK)
        al_reply_error(reply, NULL, code, problem);
    else if (al_rpc_doc_is_batch(&doc))
        handle_batch(server, &doc);
    else if (al_rpc_doc_next(&doc, &cursor, &message))
        al_dispatch_message(&server->dispatch, &message, reply);
}

static void handle_lines(struct server *server)
{
    const struct al_reply reply = { .out = &server->out };
    const char *line = NULL;
    enum al_line kind;
    size_t len = 0;

    while ((kind = al_reader_next(&server->reader, &line, &len)) != AL_LINE_NONE) {
        if (kind == AL_LINE_TOO_LONG)
            al_reply_error(reply, NULL, AL_RPC_INVALID_REQUEST, "message is longer than 10 MiB");
        else
            handle_line(server, line, len);
    }
}

/* Wait for input, unless so much output waits that reading more would only add to it. */
static void wait_for_input(struct server *server)
{
    struct pollfd fds[] = {
        { .fd = server->out.notice_fd, .events = POLLIN },
        { .fd = server->options->in_fd },
    };
    uint64_t count;

    fds[1].events = al_out_full(&server->out) ? POLLRDHUP : POLLIN;
    while (poll(fds, AL_COUNT(fds), -1) < 0 && errno == EINTR)
        ;
    if (fds[0].revents)
        (void)!read(server->out.notice_fd, &count, sizeof(count));
    if (fds[1].revents & POLLIN)
        al_reader_fill(&server->reader);
    else if (fds[1].revents) /* no writer is left, or the descriptor is no good */
        server->reader.ended = true;
}

static void serve(struct server *server)
{
    while (!server->reader.ended && !al_out_dead(&server->out)) {
        wait_for_input(server);
        handle_lines(server);
    }
}

/* Serve messages until the end; a failure to begin is the caller's to report. */
static int run(struct server *server, struct al_error *err)
{
    int r;

    r = al_dispatch_init(&server->dispatch, server->options->session, server->options->version,
                         &server->out, err);
    if (r < 0)
        return r;
    r = al_pump_start(&server->pump, &server->out, &server->dispatch.calls, err);
    if (r == 0) {
        serve(server);
        al_pump_stop(&server->pump);
    }
    al_dispatch_close(&server->dispatch);
    al_out_drain(&server->out, DRAIN_MS);
    al_dispatch_clear(&server->dispatch);
    return r;
}

int al_mcp_serve(const struct al_mcp_options *options)
{
    struct server server = { .options = options, .reader = AL_READER_INIT(options->in_fd) };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    r = al_out_init(&server.out, options->out_fd, &err);
    if (r == 0) {
        r = run(&server, &err);
        al_reader_clear(&server.reader);
        al_out_clear(&server.out);
    }
    if (r < 0)
        al_log_warn("%s", err.message);
    return r;
}
