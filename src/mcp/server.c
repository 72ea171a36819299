// SPDX-License-Identifier: Apache-2.0
#include "mcp/server.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "mcp/calls.h"
#include "mcp/dispatch.h"
#include "mcp/reply.h"
#include "mcp/workers.h"
#include "util/error.h"
#include "util/log.h"
#include "wire/jsonrpc.h"
#include "wire/reader.h"
#include "wire/writer.h"

struct al_calls;
struct al_message_writer;

/* The thread and what it works on; both borrowed. */
struct al_flusher {
    struct al_message_writer *out;
    struct al_calls *calls;
    pthread_t thread;
    atomic_bool stop;
};

#define STACK_BYTES ((size_t)128 * 1024)

static void *thread_main(void *payload)
{
    struct al_flusher *flusher = payload;
    struct pollfd fds[] = {
        { .fd = flusher->out->wake_fd, .events = POLLIN },
        { .fd = flusher->out->fd, .events = POLLOUT },
    };
    uint64_t count;

    while (!atomic_load(&flusher->stop)) {
        /* Progress first, so that what it queues is flushed too. */
        int timeout_ms = al_calls_progress(flusher->calls);
        bool more = al_message_writer_flush(flusher->out);

        (void)poll(fds, more ? 2 : 1, timeout_ms);
        (void)!read(flusher->out->wake_fd, &count, sizeof(count));
    }
    return NULL;
}

/* Start the thread.  0 or AL_ERR_EXECUTION. */
static int flusher_start(struct al_flusher *flusher, struct al_message_writer *out,
                         struct al_calls *calls, struct al_error *err)
{
    pthread_attr_t attr;
    int r;

    flusher->out = out;
    flusher->calls = calls;
    atomic_init(&flusher->stop, false);
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    r = pthread_create(&flusher->thread, &attr, thread_main, flusher);
    (void)pthread_attr_destroy(&attr);
    return r ? al_error_errno(err, r, "cannot start a thread") : 0;
}

/* Stop the thread and join it.  `out` and `calls` must still exist. */
static void flusher_stop(struct al_flusher *flusher)
{
    atomic_store(&flusher->stop, true);
    al_message_writer_wake(flusher->out);
    (void)pthread_join(flusher->thread, NULL);
}

/* After the end of input, a client that reads none of the answers for this long gets no more. */
#define DRAIN_MS 1000

/* A batch whose messages are not all served yet. */
struct open_batch {
    struct al_batch *answers; /* NULL: no batch is open */
    struct al_rpc_doc doc;
    struct al_rpc_cursor cursor;
};

/* Only the leader (mcp/workers.h) touches `reader` and `batch`. */
struct server {
    const struct al_mcp_options *options;
    struct al_reader reader;
    struct open_batch batch;
    struct al_message_writer out;
    struct al_service service;
    struct al_offer offer;
    struct al_dispatch dispatch;
    struct al_flusher flusher;
};

static void close_batch(struct open_batch *batch)
{
    if (!batch->answers)
        return;
    al_batch_close(batch->answers);
    al_rpc_doc_clear(&batch->doc);
    *batch = (struct open_batch){ .answers = NULL };
}

/* Serve the messages of the open batch up to a call, which is returned. */
static struct al_inflight *continue_batch(struct server *server)
{
    al_auto(al_rpc_message_clear) struct al_rpc_message message = AL_RPC_MESSAGE_INIT;
    struct open_batch *batch = &server->batch;
    struct al_inflight *call = NULL;

    while (!call && al_rpc_doc_next(&batch->doc, &batch->cursor, &message))
        call = al_dispatch_message(&server->dispatch, &message, al_batch_expect(batch->answers));
    if (!call)
        close_batch(batch);
    return call;
}

/* Serve a batch up to a call, which is returned.  Takes over `doc`. */
static struct al_inflight *begin_batch(struct server *server, struct al_rpc_doc *doc)
{
    struct al_reply reply = { .sink = &server->out.sink };
    bool empty = !json_array_size(doc->root);

    if (!al_dispatch_takes_batches(&server->dispatch) || empty) {
        al_reply_error(reply, NULL, AL_RPC_INVALID_REQUEST,
                       empty ? "the batch is empty"
                             : "batches are part of revision 2025-03-26 only");
        return NULL;
    }
    server->batch = (struct open_batch){
        .answers = al_batch_new(&server->out.sink),
        .doc = *doc,
        .cursor = AL_RPC_CURSOR_INIT,
    };
    *doc = AL_RPC_DOC_INIT;
    return continue_batch(server);
}

static struct al_inflight *serve_line(struct server *server, const char *line, size_t len)
{
    al_auto(al_rpc_doc_clear) struct al_rpc_doc doc = AL_RPC_DOC_INIT;
    al_auto(al_rpc_message_clear) struct al_rpc_message message = AL_RPC_MESSAGE_INIT;
    struct al_rpc_cursor cursor = AL_RPC_CURSOR_INIT;
    struct al_reply reply = { .sink = &server->out.sink };
    const char *problem = NULL;
    enum al_rpc_code code = al_rpc_parse(line, len, &doc, &problem);

    if (code != AL_RPC_OK)
        al_reply_error(reply, NULL, code, problem);
    else if (al_rpc_doc_is_batch(&doc))
        return begin_batch(server, &doc);
    else if (al_rpc_doc_next(&doc, &cursor, &message))
        return al_dispatch_message(&server->dispatch, &message, reply);
    return NULL;
}

/* An al_workers_serve_fn.  The messages of a batch borrow its line, so an open batch is served
 * before the next line. */
static struct al_inflight *serve_read(void *payload, bool *ret_more)
{
    struct server *server = payload;
    const struct al_reply reply = { .sink = &server->out.sink };
    struct al_inflight *call = server->batch.answers ? continue_batch(server) : NULL;
    enum al_line kind = AL_LINE_READY;
    const char *line = NULL;
    size_t len = 0;

    while (!call && (kind = al_reader_next(&server->reader, &line, &len)) != AL_LINE_NONE) {
        if (kind == AL_LINE_TOO_LONG)
            al_reply_error(reply, NULL, AL_RPC_INVALID_REQUEST, "message is longer than 10 MiB");
        else
            call = serve_line(server, line, len);
    }
    *ret_more = call && (server->batch.answers || al_reader_has_more(&server->reader));
    return call;
}

/* Serve until the end of input; calls that still run then are cancelled and not answered. */
static int serve(struct server *server, struct al_error *err)
{
    const struct al_workers_options workers_options = {
        .reader = &server->reader,
        .out = &server->out,
        .calls = &server->service.calls,
        .serve = serve_read,
        .payload = server,
    };
    struct al_workers workers;
    int r;

    r = al_workers_start(&workers, &workers_options, err);
    if (r < 0)
        return r;
    al_workers_wait(&workers);
    al_calls_close(&server->service.calls);
    al_workers_join(&workers);
    close_batch(&server->batch);
    return 0;
}

/* Make what the messages are served with. */
static int open_service(struct server *server, struct al_error *err)
{
    const struct al_session *session = server->options->session;
    const struct al_calls_options calls = { .ready = server->options->ready,
                                            .max = AL_CALLS_MAX,
                                            .wake_fd = server->out.wake_fd };
    int r =
        al_service_init(&server->service, server->options->version, session->mounts, &calls, err);

    if (r < 0)
        return r;
    r = al_offer_init(&server->offer, session, false, err);
    if (r < 0) {
        al_service_clear(&server->service);
        return r;
    }
    al_dispatch_init(&server->dispatch, &(struct al_dispatch_options){ .service = &server->service,
                                                                       .offer = &server->offer,
                                                                       .session = session,
                                                                       .out = &server->out.sink });
    return 0;
}

static void close_service(struct server *server)
{
    al_dispatch_clear(&server->dispatch);
    al_offer_clear(&server->offer);
    al_service_clear(&server->service);
}

/* Serve messages until the end.  The caller reports a failure to start. */
static int run(struct server *server, struct al_error *err)
{
    int r = open_service(server, err);

    if (r < 0)
        return r;
    r = flusher_start(&server->flusher, &server->out, &server->service.calls, err);
    if (r == 0) {
        r = serve(server, err);
        flusher_stop(&server->flusher);
    }
    al_message_writer_drain(&server->out, DRAIN_MS);
    close_service(server);
    return r;
}

int al_mcp_serve(const struct al_mcp_options *options)
{
    struct server server = { .options = options, .reader = AL_READER_INIT(options->in_fd) };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

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
