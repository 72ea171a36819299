// SPDX-License-Identifier: Apache-2.0
#include "mcp/server.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "mcp/calls.h"
#include "mcp/catalog.h"
#include "mcp/elicit.h"
#include "mcp/jsonrpc.h"
#include "mcp/out.h"
#include "mcp/pump.h"
#include "mcp/reader.h"
#include "mcp/reply.h"
#include "tool/call.h"
#include "tool/tool.h"
#include "util/log.h"

/* How long answers may still take to leave once the input has ended. */
#define DRAIN_MS 1000

/* What the model reads first: the words a person would use, then the rules. */
static const char instructions[] =
    "git status, git diff, git log, git add, git commit and other git work in the repositories of "
    "this machine. Use these tools instead of running git in a shell. Paths are relative to "
    "working_dir, which defaults to the first allowed root; nothing outside the roots can be "
    "reached. Calls that change a repository may be shown to a person for approval first: a "
    "refusal is final, so do not repeat the call or look for a way around it. Long output is cut "
    "at max_bytes and says so: narrow the call with paths, refs or a limit instead of raising it.";

/* Protocol revisions that begin with a handshake, oldest first. */
static const struct revision {
    const char *name;
    bool batches;
    enum al_elicit_form form; /* for clients that can be asked */
} revisions[] = {
    { "2024-11-05", false, AL_ELICIT_PLAIN },
    { "2025-03-26", true, AL_ELICIT_PLAIN },
    { "2025-06-18", false, AL_ELICIT_PLAIN },
    { "2025-11-25", false, AL_ELICIT_MODE },
};

struct server {
    const struct al_mcp_options *options;
    char *catalog;
    struct al_reader reader;
    struct al_out out;
    struct al_elicit elicit;
    struct al_calls calls;
    struct al_pump pump;

    /* What the last initialize agreed on; the reader's alone. */
    const struct revision *revision;
    enum al_elicit_form form;
};

/* Which clients may use a method; a client is of the era its message speaks. */
enum era {
    ERA_LEGACY = 1 << 0, /* initialize, then requests */
};

/* A handler of requests sees to it that `reply` is used once; one of notifications does not. */
struct method {
    const char *name;
    unsigned eras;
    enum al_rpc_kind kind;
    void (*handle)(struct server *server, const struct al_rpc_message *message,
                   struct al_reply reply);
};

static void send_result(struct al_reply reply, const char *id, const char *result)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_rpc_begin_result(&line, id);
    al_str_adds(&line, result);
    al_rpc_end(&line);
    al_reply_send(reply, &line);
}

static const struct revision *find_revision(const char *name)
{
    for (size_t i = 0; i < AL_COUNT(revisions); i++)
        if (!strcmp(revisions[i].name, name))
            return &revisions[i];
    return &revisions[AL_COUNT(revisions) - 1]; /* the client decides whether it can do with ours */
}

static void initialize(struct server *server, const struct al_rpc_message *message,
                       struct al_reply reply)
{
    const char *wanted = al_json_get_string(message->params, "protocolVersion");
    const json_t *capabilities = json_object_get(message->params, "capabilities");
    al_auto(al_str_clear) struct al_str result = AL_STR_INIT;
    const char *version = server->options->version;

    if (!wanted) {
        al_reply_error(reply, message->id, AL_RPC_INVALID_PARAMS,
                       "initialize needs protocolVersion, a string");
        return;
    }
    server->revision = find_revision(wanted);
    server->form = al_elicit_usable(capabilities) ? server->revision->form : AL_ELICIT_NONE;
    al_str_addf(&result,
                "{\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{}},\"serverInfo\":"
                "{\"name\":\"airlock\",\"title\":\"airlock\",\"version\":",
                server->revision->name);
    al_json_quote(version, strlen(version), &result);
    al_str_adds(&result, "},\"instructions\":");
    al_json_quote(instructions, sizeof(instructions) - 1, &result);
    al_str_addc(&result, '}');
    send_result(reply, message->id, result.buf);
}

static void ping(struct server *server, const struct al_rpc_message *message, struct al_reply reply)
{
    (void)server;
    send_result(reply, message->id, "{}");
}

static void list_tools(struct server *server, const struct al_rpc_message *message,
                       struct al_reply reply)
{
    if (json_object_get(message->params, "cursor"))
        al_reply_error(reply, message->id, AL_RPC_INVALID_PARAMS,
                       "unknown cursor: the list has one page");
    else
        send_result(reply, message->id, server->catalog);
}

/* Hand the arguments over to the call: from here on no other thread refers to them. */
static void take_arguments(const struct al_rpc_message *message, struct al_call_order *order)
{
    json_t *arguments = json_object_get(message->params, "arguments");

    order->arguments_error = al_rpc_arguments_problem(message);
    if (!order->arguments_error && arguments && !json_is_object(arguments))
        order->arguments_error = "arguments must be an object";
    if (order->arguments_error || !arguments)
        return;
    order->arguments = json_incref(arguments);
    (void)json_object_del(message->params, "arguments");
}

static void call_tool(struct server *server, const struct al_rpc_message *message,
                      struct al_reply reply)
{
    static const char *const token_path[] = { "params", "_meta", "progressToken", NULL };
    const json_t *name = json_object_get(message->params, "name");
    struct al_call_order order = { .reply = reply, .form = server->form };

    if (!json_is_string(name)) {
        al_reply_error(reply, message->id, AL_RPC_INVALID_PARAMS,
                       "tools/call needs name, a string");
        return;
    }
    if (strlen(json_string_value(name)) == json_string_length(name))
        order.tool = al_registry_find(server->options->session->registry, json_string_value(name));
    if (!order.tool) {
        al_reply_error_about(reply, message->id, AL_RPC_INVALID_PARAMS, "Unknown tool",
                             json_string_value(name));
        return;
    }
    order.id = al_strdup(message->id);
    order.progress_token = al_rpc_token(message, token_path);
    take_arguments(message, &order);
    al_calls_start(&server->calls, &order);
}

static void cancelled(struct server *server, const struct al_rpc_message *message,
                      struct al_reply reply)
{
    static const char *const id_path[] = { "params", "requestId", NULL };
    al_auto(al_freep) char *id = al_rpc_token(message, id_path);

    (void)reply;
    if (id)
        al_calls_cancel(&server->calls, id);
}

static const struct method methods[] = {
    { "initialize", ERA_LEGACY, AL_RPC_REQUEST, initialize },
    { "ping", ERA_LEGACY, AL_RPC_REQUEST, ping },
    { "tools/list", ERA_LEGACY, AL_RPC_REQUEST, list_tools },
    { "tools/call", ERA_LEGACY, AL_RPC_REQUEST, call_tool },
    { "notifications/cancelled", ERA_LEGACY, AL_RPC_NOTIFICATION, cancelled },
};

static const struct method *find_method(const struct al_rpc_message *message, unsigned era)
{
    for (size_t i = 0; i < AL_COUNT(methods); i++)
        if (methods[i].kind == message->kind && methods[i].eras & era &&
            !strcmp(methods[i].name, message->method))
            return &methods[i];
    return NULL;
}

static void handle_request(struct server *server, const struct al_rpc_message *message,
                           struct al_reply reply)
{
    const struct method *method = find_method(message, ERA_LEGACY);

    if (!method)
        al_reply_error_about(reply, message->id, AL_RPC_METHOD_NOT_FOUND, "Method not found",
                             message->method);
    else if (message->params && !json_is_object(message->params))
        al_reply_error(reply, message->id, AL_RPC_INVALID_PARAMS, "params must be an object");
    else
        method->handle(server, message, reply);
}

static void handle_notification(struct server *server, const struct al_rpc_message *message,
                                struct al_reply reply)
{
    const struct method *method = find_method(message, ERA_LEGACY);

    if (method)
        method->handle(server, message, reply);
    al_reply_nothing(reply);
}

static void handle_message(struct server *server, const struct al_rpc_message *message,
                           struct al_reply reply)
{
    switch (message->kind) {
    case AL_RPC_REQUEST:
        handle_request(server, message, reply);
        break;
    case AL_RPC_NOTIFICATION:
        handle_notification(server, message, reply);
        break;
    case AL_RPC_RESPONSE:
        al_elicit_answer(&server->elicit, message);
        al_reply_nothing(reply);
        break;
    case AL_RPC_INVALID:
        al_reply_error(reply, message->id, AL_RPC_INVALID_REQUEST, message->problem);
        break;
    }
}

static void handle_batch(struct server *server, const struct al_rpc_doc *doc)
{
    al_auto(al_rpc_message_clear) struct al_rpc_message message = AL_RPC_MESSAGE_INIT;
    struct al_rpc_cursor cursor = AL_RPC_CURSOR_INIT;
    struct al_reply alone = { .out = &server->out };
    struct al_batch *batch;

    if (!server->revision || !server->revision->batches || !json_array_size(doc->root)) {
        al_reply_error(alone, NULL, AL_RPC_INVALID_REQUEST,
                       json_array_size(doc->root) ? "batches are part of revision 2025-03-26 only"
                                                  : "the batch is empty");
        return;
    }
    batch = al_batch_new(&server->out);
    while (al_rpc_doc_next(doc, &cursor, &message))
        handle_message(server, &message, al_batch_expect(batch));
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
        handle_message(server, &message, reply);
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

int al_mcp_serve(const struct al_mcp_options *options)
{
    struct server server = { .options = options, .reader = AL_READER_INIT(options->in_fd) };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    r = al_out_init(&server.out, options->out_fd, &err);
    if (r < 0) {
        al_log_warn("%s", err.message);
        return r;
    }
    server.catalog = al_catalog_text(options->session);
    al_elicit_init(&server.elicit, &server.out);
    al_calls_init(&server.calls, options->session, &server.out, &server.elicit);
    r = al_pump_start(&server.pump, &server.out, &server.calls, &err);
    if (r < 0) {
        al_log_warn("%s", err.message);
    } else {
        serve(&server);
        al_pump_stop(&server.pump);
    }
    al_calls_close(&server.calls);
    al_out_drain(&server.out, DRAIN_MS);
    al_elicit_clear(&server.elicit);
    al_reader_clear(&server.reader);
    al_out_clear(&server.out);
    free(server.catalog);
    return r;
}
