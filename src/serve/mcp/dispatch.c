// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/dispatch.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/lock.h"
#include "base/sink.h"
#include "call/call.h"
#include "call/registry.h"
#include "call/tool.h"
#include "guard/agent.h"
#include "guard/root.h"
#include "guard/text.h"
#include "serve/mcp/reply.h"
#include "tools/upstream/mounts.h"

/* --- What is offered --- */

static void add_listed_tool(const struct al_session *session, const struct al_tool *tool,
                            json_t *tools)
{
    json_t *item;

    if (!al_grant_has_tool(session->grant, tool->name))
        return;
    item = tool->definition ? json_copy((json_t *)tool->definition) : al_json_object();
    al_json_append(tools, item);
    al_json_set(item, "name", al_json_string(tool->name));
    if (tool->definition) /* what its server says, and nothing else */
        return;
    if (!tool->is_everyday)
        al_json_set(item, "title", al_json_string(tool->title));
    al_json_set(item, "description", al_json_string(tool->about));
    al_json_set(item, "inputSchema", al_tool_schema(tool, &session->defaults));
    if (tool->output_schema)
        al_json_set(item, "outputSchema", al_tool_output_schema(tool));
    al_json_set(item, "annotations", al_tool_annotations(tool, session->checkpoints != NULL));
}

/* The member `"tools":[…]` for the session's registry and these mounted tools (NULL: none), which
 * come after the native ones.  Caller frees. */
static char *tools_list_text(const struct al_session *session,
                             const struct al_mounted_list *mounted)
{
    al_auto(al_json_decrefp) json_t *tools = al_json_array();
    struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < session->registry->count; i++) {
        const struct al_tool *tool = session->registry->items[i].tool;

        if (!al_mounts_replaces(session->mounts, tool->name))
            add_listed_tool(session, tool, tools);
    }
    for (size_t i = 0; mounted && i < mounted->count; i++)
        add_listed_tool(session, mounted->items[i].tool, tools);
    al_str_adds(&text, "\"tools\":");
    al_json_dump(tools, false, &text);
    return al_str_detach(&text);
}

/* The longest text: every client puts it before the user's first word. */
#define AL_INSTRUCTIONS_MAX_BYTES 800u

/* Tools that are named as examples. */
#define EXAMPLES_MAX 5

/* The features that the text depends on. */
enum feature {
    GIT = 1u << 0,          /* git_* tools */
    READS = 1u << 1,        /* the tool Git */
    RUNS = 1u << 2,         /* bash_command */
    WRITES_FILES = 1u << 3, /* the tools of the sandbox's files */
    STAGES = 1u << 4,       /* git_stage and what belongs to it */
    STARTS = 1u << 5,       /* git_status of everyday, which tells all in one call */
    SHOWS_HUNKS = 1u << 6,
    TAKES_HUNKS = 1u << 7,
    UNDOES = 1u << 8,          /* git_undo */
    LANDS = 1u << 9,           /* git_land */
    ASKS = 1u << 10,           /* some tool may need approval */
    ASKS_OFTEN = 1u << 11,     /* also about what can be undone */
    HAS_CAP = 1u << 12,        /* some tool has max_bytes */
    HAS_CURSOR = 1u << 13,     /* some tool goes on where its answer was cut */
    IN_WORKING_DIR = 1u << 14, /* some tool has working_dir */
    AT_TOP = 1u << 15,         /* some tool has cwd, and its paths start at the repository's top */
    HAS_MOUNTS = 1u << 16,     /* tools of other servers */
};

/* A sentence for sessions that have all of some features and none of others. */
struct sentence {
    unsigned with, without;
    const char *text;
};

/* Told as long as there is room: what is left out, the tools' own descriptions say. */
static const struct sentence ways[] = {
    { STARTS, 0, "Begin with git_status: one call says where you are." },
    { SHOWS_HUNKS | TAKES_HUNKS, 0,
      "git_diff with hunks gives each hunk an id, to stage, commit or discard hunks one by "
      "one." },
    { UNDOES, 0, "git_undo takes back your own last calls." },
    { LANDS, 0, "git_compare shows how branches would combine, git_land brings one into another." },
    { READS | GIT, 0, "Git reads the repository that repo names with its absolute path." },
    { READS, GIT,
      "Git reads: git status, git log, git diff, git show, git blame and more of the repository "
      "that repo names with its absolute path." },
    { RUNS, 0, "bash_command runs one line of allowed programs and is no shell." },
    { STAGES, 0,
      "Sandbox files reach a repository by way of staged commits: git_stage makes one, git_push "
      "pushes it once the user approved it, git_pull brings files of a branch in." },
    { STAGES, GIT,
      "git_status and git_diff show the sandbox and what is staged, not a working tree." },
    { WRITES_FILES, 0,
      "read_file, write_file, list_files and delete_file are for sandbox files below /workspace/, "
      "in no repository." },
};

#define REFUSED                                                                                    \
    " need the user's approval: a refusal is final, so do not repeat the call or look for a way "  \
    "around it."
#define CUT " and says so: narrow the call with paths, refs or a limit."

/* Told always. */
static const struct sentence rules[] = {
    { IN_WORKING_DIR, 0,
      " Paths are relative to working_dir, which defaults to the first allowed root." },
    { IN_WORKING_DIR | AT_TOP, 0,
      " Tools that call it cwd take paths from the top of the repository." },
    { AT_TOP, IN_WORKING_DIR,
      " cwd says which repository, by default that of the first allowed root, and paths are "
      "relative to its top." },
    { 0, 0, " Nothing outside the roots can be reached." },
    { ASKS, ASKS_OFTEN, " The first push, and changes that cannot be undone," REFUSED },
    { ASKS_OFTEN, 0, " Calls that change a repository may" REFUSED },
    { HAS_CURSOR, 0, " Long output is cut and ends with a cursor that goes on there." },
    { HAS_CAP, HAS_CURSOR, " Long output is cut at max_bytes" CUT },
    { 0, HAS_CAP | HAS_CURSOR, " Long output is cut" CUT },
    { HAS_MOUNTS, 0,
      " Tools whose names begin with mcp__ are of other MCP servers, and the same rules hold for "
      "them." },
};

/* The feature that a tool stands for; a toolset of NULL: any. */
static const struct {
    const char *toolset, *tool;
    unsigned feature;
} telling[] = {
    { "everyday", "git_status", STARTS }, { NULL, "git_undo", UNDOES },
    { NULL, "git_land", LANDS },          { NULL, "Git", READS },
    { NULL, "bash_command", RUNS },       { NULL, "write_file", WRITES_FILES },
};

/* The tool git_diff is named "git diff", as a user would say it. */
static const char *const spoken[] = { "status", "diff", "log",  "add",  "commit",
                                      "branch", "push", "pull", "merge" };

static bool holds(const struct sentence *sentence, unsigned features)
{
    return (features & sentence->with) == sentence->with && !(features & sentence->without);
}

static unsigned features_of_params(const struct al_tool *tool)
{
    unsigned features = 0;

    for (size_t i = 0; i < tool->nparams; i++) {
        const struct al_param *param = &tool->params[i];

        if (param->flags & AL_PARAM_MAX_BYTES)
            features |= HAS_CAP;
        if (!strcmp(param->name, "cursor"))
            features |= HAS_CURSOR;
        else if (!strcmp(param->name, "working_dir"))
            features |= IN_WORKING_DIR;
        else if (!strcmp(param->name, "cwd") && tool->runs_at_top)
            features |= AT_TOP;
        else if (!strcmp(param->name, "hunks") && param->type == AL_TYPE_STRINGS)
            features |= TAKES_HUNKS;
        else if (!strcmp(param->name, "hunks") && param->type == AL_TYPE_BOOL)
            features |= SHOWS_HUNKS;
    }
    return features;
}

/* `examples` gets a bit for what of `spoken` the tool is. */
static unsigned features_of(const struct al_listed_tool *listed, bool saves, unsigned *examples)
{
    const struct al_tool *tool = listed->tool;
    const char *toolset = listed->toolset->name;
    unsigned features = features_of_params(tool);

    if (!strcmp(toolset, "staging"))
        features |= STAGES;
    else if (al_starts_with(tool->name, "git_"))
        features |= GIT;
    for (size_t i = 0; features & GIT && i < AL_COUNT(spoken); i++)
        if (!strcmp(tool->name + strlen("git_"), spoken[i]))
            *examples |= 1u << i;
    for (size_t i = 0; i < AL_COUNT(telling); i++)
        if (!strcmp(tool->name, telling[i].tool) &&
            (!telling[i].toolset || !strcmp(toolset, telling[i].toolset)))
            features |= telling[i].feature;
    if (al_tool_asks(tool, saves))
        features |= strcmp(toolset, "everyday") != 0 ? ASKS | ASKS_OFTEN : ASKS;
    return saves ? features : features & ~(unsigned)UNDOES;
}

/* The user's words come first, because clients search tools by them. */
static void add_examples(unsigned examples, struct al_str *out)
{
    size_t count = 0;

    for (size_t i = 0; i < AL_COUNT(spoken) && count < EXAMPLES_MAX; i++)
        if (examples & 1u << i)
            al_str_addf(out, "%sgit %s", count++ ? ", " : "", spoken[i]);
    al_str_adds(out, count ? " and other git work" : "Git work");
    al_str_adds(out, " in the repositories of this machine. Use these tools instead of running git "
                     "in a shell.");
}

static void add_ways(unsigned features, size_t room, struct al_str *out)
{
    for (size_t i = 0; i < AL_COUNT(ways); i++)
        if (holds(&ways[i], features) && out->len + strlen(ways[i].text) + 1 <= room)
            al_str_addf(out, "%s%s", out->len ? " " : "", ways[i].text);
    if (!out->len)
        al_str_adds(out, "Tools for the repositories of this machine.");
}

/* Name the roots, if all of them fit. */
static void add_roots(const struct al_roots *roots, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    if (roots)
        al_roots_add_names(roots, &list);
    if (list.len && out->len + list.len + 1 <= AL_INSTRUCTIONS_MAX_BYTES)
        al_str_addf(out, " %s", list.buf);
}

/* The instructions of a session as a JSON string: what its tools do, how to work with them, which
 * parameter selects the repository, and the rules.  Only tools and parameters of the session are
 * named.  Sentences that the tools' own descriptions have as well are left out with many toolsets.
 * Caller frees. */
static char *instructions_text(const struct al_session *session)
{
    unsigned features = session->mounts ? HAS_MOUNTS : 0, examples = 0;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT, end = AL_STR_INIT;
    struct al_str json = AL_STR_INIT;

    for (size_t i = 0; i < session->registry->count; i++) {
        const struct al_listed_tool *listed = &session->registry->items[i];

        if (al_grant_has_tool(session->grant, listed->tool->name))
            features |= features_of(listed, session->checkpoints != NULL, &examples);
    }
    for (size_t i = 0; i < AL_COUNT(rules); i++)
        if (holds(&rules[i], features))
            al_str_adds(&end, rules[i].text);
    if (features & GIT)
        add_examples(examples, &text);
    add_ways(features, AL_INSTRUCTIONS_MAX_BYTES - end.len, &text);
    al_str_add(&text, end.buf, end.len);
    add_roots(session->roots, &text);
    al_json_quote(text.buf, text.len, &json);
    return al_str_detach(&json);
}

void al_offer_init(struct al_offer *offer, const struct al_session *session, bool is_private)
{
    *offer = (struct al_offer){ .session = session, .is_private = is_private };
    al_request_states_init(&offer->request_states);
    offer->tools = session->mounts ? NULL : tools_list_text(session, NULL);
    offer->instructions = instructions_text(session);
}

void al_offer_clear(struct al_offer *offer)
{
    al_request_states_clear(&offer->request_states);
    free(offer->tools);
    free(offer->instructions);
}

/* --- Messages --- */

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

/* The members that the era adds to a result; NULL: none. */
static const struct al_result_extra *extra_of(const struct al_dispatch *dispatch,
                                              const struct request *request)
{
    return request->era == AL_ERA_MODERN ? &dispatch->service->modern : NULL;
}

/* Append a result with these members and those that the era adds.  A `ttl_ms` below 0 is not said.
 */
static void add_result(struct al_str *out, const char *members, const struct al_result_extra *extra,
                       int ttl_ms, bool is_private)
{
    al_str_addf(out, "{%s", members);
    if (extra)
        al_str_addf(out, ",%s", extra->members);
    if (extra && ttl_ms >= 0) /* how long, and by whom */
        al_str_addf(out, ",\"ttlMs\":%d,\"cacheScope\":\"%s\"", ttl_ms,
                    is_private ? "private" : "public");
    if (extra)
        al_str_addf(out, ",\"_meta\":{%s}", extra->meta);
    al_str_addc(out, '}');
}

static void send_result(const struct al_dispatch *dispatch, const struct request *request,
                        const char *members)
{
    const bool is_private = dispatch->offer->is_private;
    const int ttl_ms = is_private ? AL_DISPATCH_PRIVATE_TTL_MS : AL_DISPATCH_TTL_MS;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_rpc_begin_result(&line, request->message->id);
    add_result(&line, members, extra_of(dispatch, request),
               request->method->cacheable ? ttl_ms : -1, is_private);
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
    text = tools_list_text(dispatch->offer->session, now);
    al_mounted_list_free(now);
    add_result(out, text, extra, 0, true);
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
