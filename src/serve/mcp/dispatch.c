// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/dispatch.h"

#include <stdlib.h>

#include "base/lock.h"
#include "base/sink.h"
#include "call/registry.h"
#include "guard/agent.h"
#include "serve/mcp/reply.h"
#include "tools/upstream/mounts.h"

/* A message, and what the client can do according to the message's era. */
struct request {
    const struct al_rpc_message *message;
    const struct method *method;
    enum al_era era;
    enum al_approval_form form; /* how the client shows an approval form */
    bool sampling;              /* the client offers sampling/createMessage */
    const json_t *client;       /* what the client says about itself; NULL: nothing */
    struct al_message_sink *sink;
};

/* The handler of a request answers it exactly once; the handler of a notification never does. */
struct method {
    const char *name;
    unsigned eras;
    enum al_rpc_kind kind;
    bool cacheable; /* a modern result has ttlMs */
    void (*handle)(struct al_dispatch *dispatch, const struct request *request);
};

static void refuse(const struct request *request, enum al_rpc_code code, const char *problem)
{
    al_reply_error(request->sink, request->message->id, code, problem);
}

/* What the era adds to a result; NULL: nothing. */
static const struct al_result_extra *extra_of(const struct al_dispatch *dispatch,
                                              const struct request *request)
{
    return request->era == AL_ERA_MODERN ? &dispatch->service->modern : NULL;
}

/* Send a result with these members and those that the era adds. */
static void send_result(const struct al_dispatch *dispatch, const struct request *request,
                        const char *members)
{
    const struct al_result_extra *extra = extra_of(dispatch, request);
    const bool is_private = dispatch->offer->is_private;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_rpc_begin_result(&line, request->message->id);
    al_str_addf(&line, "{%s", members);
    if (extra) {
        al_str_addf(&line, ",%s", extra->members);
        if (request->method->cacheable) /* how long, and by whom */
            al_str_addf(&line, ",\"ttlMs\":%d,\"cacheScope\":\"%s\"",
                        is_private ? AL_DISPATCH_PRIVATE_TTL_MS : AL_DISPATCH_TTL_MS,
                        is_private ? "private" : "public");
        al_str_addf(&line, ",\"_meta\":{%s}", extra->meta);
    }
    al_str_addc(&line, '}');
    al_rpc_end(&line);
    al_reply_send(request->sink, &line);
}

/* The list changes only if there are tools of other servers. */
static const char *own_capabilities(const struct al_dispatch *dispatch)
{
    return dispatch->offer->session->mounts ? "\"capabilities\":{\"tools\":{\"listChanged\":true}}"
                                            : "\"capabilities\":{\"tools\":{}}";
}

static void add_instructions(const struct al_dispatch *dispatch, struct al_str *members)
{
    al_str_addf(members, ",\"instructions\":%s", dispatch->offer->instructions);
}

/* --- Changes of the list of tools --- */

#define CHANGED "\"method\":\"notifications/tools/list_changed\""

/* Caller holds the lock. */
static void send_for(struct al_message_sink *sink, const char *id, const char *method,
                     const char *more)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line,
                "{\"jsonrpc\":\"2.0\",%s,\"params\":{\"_meta\":{"
                "\"io.modelcontextprotocol/subscriptionId\":%s}%s}}",
                method, id, more);
    al_sink_send(sink, &line);
}

/* Caller holds the lock. */
static void tell(struct al_dispatch *dispatch)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (!dispatch->is_listed)
        return;
    if (dispatch->legacy) {
        al_str_adds(&line, "{\"jsonrpc\":\"2.0\"," CHANGED "}");
        al_sink_send(dispatch->legacy, &line);
    }
    for (size_t i = 0; i < dispatch->nsubscriptions; i++)
        if (dispatch->subscriptions[i].wants)
            send_for(dispatch->subscriptions[i].sink, dispatch->subscriptions[i].id, CHANGED, "");
    dispatch->is_listed = false;
}

/* Runs on a thread of a server, whenever its list has changed. */
static void on_change(void *payload)
{
    struct al_service *service = payload;

    al_hold(&service->lock);
    for (struct al_dispatch *dispatch = service->first; dispatch; dispatch = dispatch->next)
        tell(dispatch);
}

void al_dispatch_set_legacy(struct al_dispatch *dispatch, struct al_message_sink *sink)
{
    al_hold(&dispatch->service->lock);
    dispatch->legacy = sink;
}

/* Caller holds the lock.  The place of a subscription; its end: there is none. */
static size_t find_subscription(const struct al_dispatch *dispatch, const char *id,
                                const struct al_message_sink *sink)
{
    size_t at = 0;

    while (at < dispatch->nsubscriptions &&
           ((sink && dispatch->subscriptions[at].sink != sink) ||
            (id && strcmp(dispatch->subscriptions[at].id, id) != 0)))
        at++;
    return at;
}

/* Caller holds the lock. */
static void drop(struct al_dispatch *dispatch, size_t at)
{
    free(dispatch->subscriptions[at].id);
    dispatch->subscriptions[at] = dispatch->subscriptions[--dispatch->nsubscriptions];
}

static bool subscribe(struct al_dispatch *dispatch, const char *id, struct al_message_sink *sink,
                      bool wants)
{
    bool opens;

    al_hold(&dispatch->service->lock);
    opens = find_subscription(dispatch, id, sink) == dispatch->nsubscriptions &&
            dispatch->nsubscriptions < AL_SUBSCRIPTIONS_MAX;
    if (opens) {
        send_for(sink, id, "\"method\":\"notifications/subscriptions/acknowledged\"",
                 wants ? ",\"notifications\":{\"toolsListChanged\":true}"
                       : ",\"notifications\":{}");
        dispatch->subscriptions[dispatch->nsubscriptions++] =
            (struct al_subscription){ al_strdup(id), sink, wants };
    }
    return opens;
}

void al_dispatch_unsubscribe(struct al_dispatch *dispatch, const char *id,
                             const struct al_message_sink *sink)
{
    size_t at;

    al_hold(&dispatch->service->lock);
    while ((at = find_subscription(dispatch, id, sink)) < dispatch->nsubscriptions)
        drop(dispatch, at);
}

void al_dispatch_end(struct al_dispatch *dispatch, void (*end)(struct al_message_sink *sink))
{
    al_hold(&dispatch->service->lock);
    while (dispatch->nsubscriptions) {
        end(dispatch->subscriptions[dispatch->nsubscriptions - 1].sink);
        drop(dispatch, dispatch->nsubscriptions - 1);
    }
}

/* --- Methods --- */

static void initialize(struct al_dispatch *dispatch, const struct request *request)
{
    const json_t *params = request->message->params;
    const json_t *capabilities = json_object_get(params, "capabilities");
    const char *wanted = al_json_get_string(params, "protocolVersion");
    al_auto(al_str_clear) struct al_str members = AL_STR_INIT;

    if (!wanted) {
        refuse(request, AL_RPC_INVALID_PARAMS, "initialize needs protocolVersion, a string");
        return;
    }
    dispatch->revision = al_revision_agree(wanted);
    dispatch->form = al_approval_form_for(capabilities, dispatch->revision);
    dispatch->sampling = json_is_object(json_object_get(capabilities, "sampling"));
    free(dispatch->client);
    dispatch->client =
        al_agent_name(al_json_get_string(json_object_get(params, "clientInfo"), "name"));
    al_str_addf(&members, "\"protocolVersion\":\"%s\",%s,\"serverInfo\":%s",
                dispatch->revision->name, own_capabilities(dispatch), dispatch->service->info);
    add_instructions(dispatch, &members);
    send_result(dispatch, request, members.buf);
    al_dispatch_set_legacy(dispatch, dispatch->out);
}

static void discover(struct al_dispatch *dispatch, const struct request *request)
{
    al_auto(al_str_clear) struct al_str members = AL_STR_INIT;

    al_str_adds(&members, "\"supportedVersions\":");
    al_revision_add_list(&members);
    al_str_addf(&members, ",%s", own_capabilities(dispatch));
    add_instructions(dispatch, &members);
    send_result(dispatch, request, members.buf);
}

static void ping(struct al_dispatch *dispatch, const struct request *request)
{
    send_result(dispatch, request, "");
}

/* The result of tools/list, made on a thread of its own because it may have to wait for servers. */
static void respond_list(void *payload, const struct al_result_extra *extra,
                         struct al_cancel *cancel, struct al_str *out)
{
    struct al_dispatch *dispatch = payload;
    struct al_service *service = dispatch->service;
    const struct al_mounted_list *now;
    al_auto(al_freep) char *text = NULL;

    al_mounts_await(service->mounts, AL_LISTING_WAIT_MS, cancel);
    /* A change from here on is not in this list for sure, so it is told. */
    (void)pthread_mutex_lock(&service->lock);
    dispatch->is_listed = true;
    (void)pthread_mutex_unlock(&service->lock);
    now = al_mounts_list(service->mounts);
    text = al_tools_list_text(dispatch->offer->session, now);
    al_mounted_list_free(now);
    al_str_addf(out, "{%s", text);
    if (extra)
        al_str_addf(out, ",%s,\"ttlMs\":0,\"cacheScope\":\"private\",\"_meta\":{%s}",
                    extra->members, extra->meta);
    al_str_addc(out, '}');
}

static void list_tools(struct al_dispatch *dispatch, const struct request *request)
{
    struct al_call_spec spec = { .scope = &dispatch->scope,
                                 .input_required = AL_INPUT_REQUIRED_INIT,
                                 .extra = extra_of(dispatch, request),
                                 .sink = request->sink };

    if (json_object_get(request->message->params, "cursor")) {
        refuse(request, AL_RPC_INVALID_PARAMS, "unknown cursor: the list has one page");
    } else if (dispatch->offer->tools) {
        send_result(dispatch, request, dispatch->offer->tools);
    } else {
        spec.id = al_strdup(request->message->id);
        spec.respond = respond_list;
        spec.payload = dispatch;
        al_calls_start(&dispatch->service->calls, &spec);
    }
}

static void listen_to(struct al_dispatch *dispatch, const struct request *request)
{
    const json_t *wanted = json_object_get(request->message->params, "notifications");
    const bool tools = json_is_true(json_object_get(wanted, "toolsListChanged"));

    if (!dispatch->offer->session->mounts)
        al_reply_error_about(request->sink, request->message->id, AL_RPC_METHOD_NOT_FOUND,
                             "Method not found", request->message->method, NULL);
    else if (!json_is_object(wanted))
        refuse(request, AL_RPC_INVALID_PARAMS,
               "subscriptions/listen needs notifications, an object");
    else if (!subscribe(dispatch, request->message->id, request->sink, tools))
        refuse(request, AL_RPC_INVALID_REQUEST,
               "too many subscriptions, or one with this id is open");
    else
        al_sink_stay_open(request->sink);
}

/* Move the arguments to the call.  The message keeps no reference, so the thread of the call is the
 * only one that uses them. */
static void take_arguments(const struct al_rpc_message *message, struct al_call_spec *spec)
{
    json_t *arguments = json_object_get(message->params, "arguments");

    spec->arguments_error = al_rpc_arguments_problem(message);
    if (!spec->arguments_error && arguments && !json_is_object(arguments))
        spec->arguments_error = "arguments must be an object";
    if (spec->arguments_error || !arguments)
        return;
    spec->arguments = json_incref(arguments);
    (void)json_object_del(message->params, "arguments");
}

/* Find the native tool that is called, or the name of a tool of another server.  False: there is
 * none, and the request was answered. */
static bool find_tool(const struct al_dispatch *dispatch, const struct request *request,
                      struct al_call_spec *spec)
{
    const json_t *name = json_object_get(request->message->params, "name");
    const struct al_session *session = dispatch->offer->session;
    const char *text = json_string_value(name);

    if (!json_is_string(name)) {
        refuse(request, AL_RPC_INVALID_PARAMS, "tools/call needs name, a string");
        return false;
    }
    if (strlen(text) == json_string_length(name) && !al_mounts_replaces(session->mounts, text)) {
        spec->tool = al_registry_find(session->registry, text);
        if (!spec->tool && al_mounts_claims(session->mounts, text))
            spec->mounted_tool = al_strdup(text);
    }
    if (!spec->tool && !spec->mounted_tool)
        al_reply_error_about(
            request->sink, request->message->id, AL_RPC_INVALID_PARAMS, "Unknown tool",
            json_string_value(name),
            al_registry_nearest(session->registry, session->grant, json_string_value(name)));
    return spec->tool || spec->mounted_tool;
}

static const char *const token_path[] = { "params", "_meta", "progressToken", NULL };

/* A request that brings the answer to a question of another server is no call of its own: the call
 * that asked goes on. */
static void call_tool(struct al_dispatch *dispatch, const struct request *request)
{
    const struct al_rpc_message *message = request->message;
    const bool is_modern = request->era == AL_ERA_MODERN;
    const bool is_answer = is_modern && al_calls_is_answer(message->params);
    struct al_call_spec spec = {
        .scope = &dispatch->scope,
        .form = request->form,
        .sampling = request->sampling,
        .input_required = AL_INPUT_REQUIRED_INIT,
        .extra = extra_of(dispatch, request),
        .sink = request->sink,
    };
    enum al_rpc_code code = AL_RPC_OK;
    const char *problem = NULL, *tool;

    if (!find_tool(dispatch, request, &spec))
        return;
    take_arguments(message, &spec);
    tool = spec.tool ? spec.tool->tool->name : spec.mounted_tool;
    spec.id = al_strdup(message->id);
    spec.progress_token = al_rpc_token(message, token_path);
    if (is_answer) {
        code = al_calls_resume(&dispatch->service->calls, &spec, tool, message->params, &problem);
    } else if (is_modern) {
        spec.input_required.request_states = &dispatch->offer->request_states;
        spec.input_required.tool = tool;
        spec.input_required.arguments = spec.arguments;
        code = al_input_required_begin(&spec.input_required, message->params, &problem);
    }
    if (code != AL_RPC_OK)
        refuse(request, code, problem);
    if (is_answer || code != AL_RPC_OK) {
        al_call_spec_clear(&spec);
        return;
    }
    spec.client = is_modern ? al_agent_name(al_json_get_string(request->client, "name"))
                            : al_strdup(dispatch->client);
    al_session_join(dispatch->scope.session, json_object_get(message->params, "_meta"));
    al_calls_start(&dispatch->service->calls, &spec);
}

static void cancelled(struct al_dispatch *dispatch, const struct request *request)
{
    static const char *const id_path[] = { "params", "requestId", NULL };
    al_auto(al_freep) char *id = al_rpc_token(request->message, id_path);

    if (!id)
        return;
    al_calls_cancel(&dispatch->service->calls, &dispatch->scope, id);
    if (!dispatch->scope.ids_repeat)
        al_dispatch_unsubscribe(dispatch, id, NULL);
}

static const struct method methods[] = {
    { "initialize", AL_ERA_LEGACY, AL_RPC_REQUEST, false, initialize },
    { "ping", AL_ERA_LEGACY, AL_RPC_REQUEST, false, ping },
    { "server/discover", AL_ERA_MODERN, AL_RPC_REQUEST, true, discover },
    { "tools/list", AL_ERA_LEGACY | AL_ERA_MODERN, AL_RPC_REQUEST, true, list_tools },
    { "subscriptions/listen", AL_ERA_MODERN, AL_RPC_REQUEST, false, listen_to },
    { "tools/call", AL_ERA_LEGACY | AL_ERA_MODERN, AL_RPC_REQUEST, false, call_tool },
    { "notifications/cancelled", AL_ERA_LEGACY | AL_ERA_MODERN, AL_RPC_NOTIFICATION, false,
      cancelled },
};

static const struct method *find_method(const struct request *request)
{
    const struct al_rpc_message *message = request->message;

    for (size_t i = 0; i < AL_COUNT(methods); i++)
        if (methods[i].kind == message->kind && methods[i].eras & request->era &&
            !strcmp(methods[i].name, message->method))
            return &methods[i];
    return NULL;
}

/* Read what a modern request says about its client.  False: the request was refused and answered.
 */
static bool open_envelope(struct request *request)
{
    struct al_envelope envelope = { .version = NULL };
    const char *problem = NULL;
    enum al_rpc_code code;

    code = al_envelope_read(request->message, &envelope, &problem);
    if (code == AL_RPC_UNSUPPORTED_VERSION)
        al_reply_unsupported(request->sink, request->message->id, problem, envelope.version);
    else if (code != AL_RPC_OK)
        refuse(request, code, problem);
    else
        request->form = al_approval_form_for(envelope.capabilities, envelope.revision);
    request->client = envelope.client;
    return code == AL_RPC_OK;
}

static void handle_request(struct al_dispatch *dispatch, struct request *request)
{
    const struct al_rpc_message *message = request->message;

    if (request->era == AL_ERA_MODERN && !open_envelope(request))
        return;
    request->method = find_method(request);
    if (!request->method)
        al_reply_error_about(request->sink, message->id, AL_RPC_METHOD_NOT_FOUND,
                             "Method not found", message->method, NULL);
    else if (message->params && !json_is_object(message->params))
        refuse(request, AL_RPC_INVALID_PARAMS, "params must be an object");
    else
        request->method->handle(dispatch, request);
}

static void handle_notification(struct al_dispatch *dispatch, struct request *request)
{
    request->method = find_method(request);
    if (request->method)
        request->method->handle(dispatch, request);
    al_reply_nothing(request->sink);
}

void al_dispatch_message(struct al_dispatch *dispatch, const struct al_rpc_message *message,
                         struct al_message_sink *sink)
{
    struct request request = { .message = message, .form = AL_APPROVAL_FORM_NONE, .sink = sink };

    if (message->kind == AL_RPC_INVALID) {
        refuse(&request, AL_RPC_INVALID_REQUEST, message->problem);
        return;
    }
    if (message->kind == AL_RPC_RESPONSE) {
        al_calls_answer(&dispatch->service->calls, &dispatch->scope, message);
        al_reply_nothing(sink);
        return;
    }
    request.era = al_envelope_era(message);
    if (request.era == AL_ERA_LEGACY) {
        request.form = dispatch->form;
        request.sampling = dispatch->sampling;
    }
    if (message->kind == AL_RPC_REQUEST)
        handle_request(dispatch, &request);
    else
        handle_notification(dispatch, &request);
}

/* A batch is short to send, and its answers are not: 90,000 times the list of tools in 4 MiB. */
#define BATCH_MESSAGES     1000
#define BATCH_ANSWER_BYTES ((size_t)4 * 1024 * 1024)

const char *al_dispatch_batch_problem(const struct al_dispatch *dispatch,
                                      const struct al_rpc_doc *doc)
{
    if (!json_array_size(doc->root))
        return "the batch is empty";
    if (!dispatch->revision || !dispatch->revision->batches)
        return "batches are part of revision 2025-03-26 only";
    if (json_array_size(doc->root) > BATCH_MESSAGES)
        return "a batch has 1000 messages at most";
    return NULL;
}

/* The answers of a batch, which are sent together after the last of them. */
struct batch {
    struct al_message_sink sink; /* of each message in it */
    struct al_message_sink *out;
    pthread_mutex_t lock;
    struct al_str items; /* the answers so far, separated by commas */
    size_t awaited;      /* answers still to come, plus one until all have come */
};

static void finish_batch(struct batch *batch)
{
    if (batch->items.len)
        al_str_addc(&batch->items, ']');
    al_sink_answer(batch->out,
                   &(struct al_rpc_answer){ .line = batch->items.len ? &batch->items : NULL });
    al_str_clear(&batch->items);
    (void)pthread_mutex_destroy(&batch->lock);
    free(batch);
}

static void batch_send(struct al_message_sink *sink, struct al_str *line)
{
    al_sink_send(((struct batch *)sink)->out, line);
}

static void batch_answer(struct al_message_sink *sink, const struct al_rpc_answer *answer)
{
    struct batch *batch = (struct batch *)sink;
    bool last;

    (void)pthread_mutex_lock(&batch->lock);
    if (answer->line) {
        al_str_addc(&batch->items, batch->items.len ? ',' : '[');
        al_str_add(&batch->items, answer->line->buf, answer->line->len);
    }
    last = --batch->awaited == 0;
    (void)pthread_mutex_unlock(&batch->lock);
    if (last)
        finish_batch(batch);
}

/* Add a message whose answer belongs to the batch.  The sink for it. */
static struct al_message_sink *expect(struct batch *batch)
{
    al_hold(&batch->lock);
    batch->awaited++;
    return &batch->sink;
}

static size_t bytes_of(struct batch *batch)
{
    al_hold(&batch->lock);
    return batch->items.len;
}

/* A modern request has headers of its own, and may stay open, so it comes alone. */
static void handle_item(struct al_dispatch *dispatch, const struct al_rpc_message *message,
                        struct batch *batch)
{
    const bool has_method = message->kind == AL_RPC_REQUEST || message->kind == AL_RPC_NOTIFICATION;
    const bool is_full = message->kind == AL_RPC_REQUEST && bytes_of(batch) >= BATCH_ANSWER_BYTES;
    struct al_message_sink *sink = expect(batch);

    if (is_full)
        al_reply_busy(sink, message->id,
                      "the answers to this batch are too large; send the other requests again");
    else if (has_method && al_envelope_era(message) == AL_ERA_MODERN)
        al_reply_error(sink, message->id, AL_RPC_INVALID_REQUEST,
                       "a request of revision 2026-07-28 is not part of a batch");
    else
        al_dispatch_message(dispatch, message, sink);
}

void al_dispatch_batch(struct al_dispatch *dispatch, const struct al_rpc_doc *doc,
                       struct al_message_sink *sink)
{
    al_auto(al_rpc_message_clear) struct al_rpc_message message = AL_RPC_MESSAGE_INIT;
    struct al_rpc_cursor cursor = AL_RPC_CURSOR_INIT;
    struct batch *batch = al_calloc(1, sizeof(*batch));

    *batch = (struct batch){ .sink = { .send = batch_send, .answer = batch_answer },
                             .out = sink,
                             .items = AL_STR_INIT,
                             .awaited = 1 };
    (void)pthread_mutex_init(&batch->lock, NULL);
    while (al_rpc_doc_next(doc, &cursor, &message))
        handle_item(dispatch, &message, batch);
    al_reply_nothing(&batch->sink);
}

static char *describe_server(const char *version)
{
    struct al_str info = AL_STR_INIT;

    al_str_adds(&info, "{\"name\":\"airlock\",\"title\":\"airlock\",\"version\":");
    al_json_quote(version, strlen(version), &info);
    al_str_addc(&info, '}');
    return al_str_detach(&info);
}

void al_service_init(struct al_service *service, const char *version, struct al_mounts *mounts,
                     const struct al_calls_options *calls)
{
    *service = (struct al_service){ .info = NULL };
    al_calls_init(&service->calls, calls);
    service->info = describe_server(version);
    service->meta = al_asprintf("\"io.modelcontextprotocol/serverInfo\":%s", service->info);
    service->modern =
        (struct al_result_extra){ .members = "\"resultType\":\"complete\"", .meta = service->meta };
    service->mounts = mounts;
    (void)pthread_mutex_init(&service->lock, NULL);
    al_mounts_watch(mounts, on_change, service);
}

void al_service_clear(struct al_service *service)
{
    al_mounts_watch(service->mounts, NULL, NULL);
    (void)pthread_mutex_destroy(&service->lock);
    al_calls_clear(&service->calls);
    free(service->info);
    free(service->meta);
}

void al_dispatch_init(struct al_dispatch *dispatch, struct al_service *service,
                      struct al_offer *offer, const struct al_session *session)
{
    *dispatch =
        (struct al_dispatch){ .service = service, .offer = offer, .form = AL_APPROVAL_FORM_NONE };
    al_call_scope_init(&dispatch->scope, session);
    al_hold(&service->lock);
    dispatch->next = service->first;
    service->first = dispatch;
}

void al_dispatch_clear(struct al_dispatch *dispatch)
{
    struct al_dispatch **at;

    (void)pthread_mutex_lock(&dispatch->service->lock);
    for (at = &dispatch->service->first; *at != dispatch; at = &(*at)->next)
        ;
    *at = dispatch->next;
    (void)pthread_mutex_unlock(&dispatch->service->lock);
    for (size_t i = 0; i < dispatch->nsubscriptions; i++)
        free(dispatch->subscriptions[i].id);
    free(dispatch->client);
}
