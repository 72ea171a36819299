// SPDX-License-Identifier: Apache-2.0
/*
 * A server of either era is asked for its revisions with server/discover first.  One of the older
 * era answers with an error, not at all, or by ending:
 *
 *   answer to server/discover              then
 *   a result or -32022 with 2026-07-28     modern
 *   anything else                          initialize
 *   none within AL_UPSTREAM_PROBE_MS       initialize too; the first useful answer decides
 *   the process ends                       it is started once more, with initialize first
 */
#include <stdlib.h>

#include "upstream/limits.h"
#include "upstream/link.h"
#include "upstream/tools.h"
#include "util/clock.h"
#include "wire/jsonrpc.h"

#define MODERN "2026-07-28"
#define LEGACY "2025-11-25"

static void forget(struct al_upstream_link *link, struct al_upstream_request *a,
                   struct al_upstream_request *b)
{
    al_upstream_link_forget(link, a);
    al_upstream_link_forget(link, b);
}

static void discover(struct al_upstream_link *link, struct al_upstream_request *request)
{
    al_auto(al_json_decrefp) json_t *params =
        al_upstream_params(link->server, al_revision_find(MODERN), NULL, 0, true);

    al_upstream_link_ask(link, request, "server/discover", params);
}

static void initialize(struct al_upstream_link *link, struct al_upstream_request *request)
{
    al_auto(al_json_decrefp) json_t *params = al_json_object();

    al_json_set(params, "protocolVersion", al_json_string(LEGACY));
    al_json_set(params, "capabilities", al_upstream_capabilities(link->server, true));
    al_json_set(params, "clientInfo", al_upstream_client_info());
    al_upstream_link_ask(link, request, "initialize", params);
}

static bool lists_modern(const json_t *versions)
{
    for (size_t i = 0; i < json_array_size(versions); i++) {
        const char *name = json_string_value(json_array_get(versions, i));

        if (name && !strcmp(name, MODERN))
            return true;
    }
    return false;
}

/* Whether the answer to server/discover says that the server is modern. */
static bool is_modern(const struct al_upstream_request *request)
{
    if (!request->id || !request->done)
        return false;
    if (request->result)
        return lists_modern(json_object_get(request->result, "supportedVersions"));
    return request->code == AL_RPC_UNSUPPORTED_VERSION &&
           lists_modern(json_object_get(request->data, "supported"));
}

/* Keep what the server says about itself. */
static void note_server(struct al_upstream_link *link, const json_t *info,
                        const json_t *capabilities)
{
    struct al_upstream *server = link->server;
    al_auto(al_freep) char *name = al_upstream_line(al_json_get_string(info, "name"), 100);
    al_auto(al_freep) char *version = al_upstream_line(al_json_get_string(info, "version"), 50);

    link->has_tools = json_object_get(capabilities, "tools") != NULL;
    (void)pthread_mutex_lock(&server->lock);
    free(server->program);
    server->program =
        name ? al_asprintf("%s%s%s", name, version ? " " : "", version ? version : "") : NULL;
    server->revision = link->revision;
    (void)pthread_mutex_unlock(&server->lock);
}

/* Ask a modern server to tell when its tools change. */
static void listen(struct al_upstream_link *link)
{
    al_auto(al_json_decrefp) json_t *notifications = al_json_object();
    al_auto(al_json_decrefp) json_t *params = al_json_object();
    al_auto(al_json_decrefp) json_t *full = NULL;
    struct al_upstream_request request;

    al_json_set(notifications, "toolsListChanged", al_json_bool(true));
    al_json_set(params, "notifications", json_incref(notifications));
    full = al_upstream_params(link->server, link->revision, params, 0, false);
    al_upstream_link_ask(link, &request, "subscriptions/listen", full);
    link->listen_id = request.id;
    al_upstream_link_forget(link, &request);
}

static int be_modern(struct al_upstream_link *link, const json_t *result)
{
    const json_t *capabilities = json_object_get(result, "capabilities");
    const json_t *info = json_object_get(json_object_get(result, "_meta"), AL_META_SERVER);

    link->revision = al_revision_find(MODERN);
    note_server(link, info, capabilities);
    if (!result)
        link->has_tools = true; /* an error says nothing about capabilities */
    if (json_is_true(json_object_get(json_object_get(capabilities, "tools"), "listChanged")))
        listen(link);
    return 0;
}

static int be_legacy(struct al_upstream_link *link, const json_t *result, char **ret_problem)
{
    const char *name = al_json_get_string(result, "protocolVersion");
    const struct al_revision *revision = name ? al_revision_find(name) : NULL;
    al_auto(al_freep) char *shown = al_upstream_line(name, 50);

    if (!revision || revision->era != AL_ERA_LEGACY) {
        *ret_problem =
            al_asprintf("speaks revision '%s' of MCP, which airlock does not", shown ? shown : "");
        return AL_ERR_EXECUTION;
    }
    link->revision = revision;
    note_server(link, json_object_get(result, "serverInfo"),
                json_object_get(result, "capabilities"));
    al_upstream_link_notify(link, "notifications/initialized");
    return 0;
}

/* Wait for the answer to initialize, while a late one to server/discover still counts. */
static int finish_handshake(struct al_upstream_link *link, struct al_upstream_request *probe,
                            struct al_upstream_request *hello, int64_t deadline_ms,
                            char **ret_problem)
{
    int r;

    do
        r = al_upstream_link_await(link, hello, probe->done ? NULL : probe, deadline_ms);
    while (r == 0 && !hello->done && !is_modern(probe));
    if (r == AL_ERR_TIMEOUT)
        return al_upstream_link_late(link, "initialize", ret_problem);
    if (r < 0)
        return r;
    if (hello->done && hello->result)
        return be_legacy(link, hello->result, ret_problem);
    if (!probe->id) { /* initialize came first, and is not known */
        discover(link, probe);
        r = al_upstream_link_await(link, probe, NULL, deadline_ms);
        if (r == AL_ERR_TIMEOUT)
            return al_upstream_link_late(link, "server/discover", ret_problem);
    }
    if (r == 0 && is_modern(probe))
        return be_modern(link, probe->result);
    if (r == 0) {
        *ret_problem = al_asprintf("answered initialize with error %d: %s", hello->code,
                                   hello->message ? hello->message : "no result");
        r = AL_ERR_EXECUTION;
    }
    return r;
}

static int try_handshake(struct al_upstream_link *link, struct al_upstream_request *probe,
                         struct al_upstream_request *hello, int64_t deadline_ms, char **ret_problem)
{
    const int64_t probe_ms = al_clock_ms() + AL_UPSTREAM_PROBE_MS;
    int r;

    if (!link->server->skips_probe) {
        discover(link, probe);
        r = al_upstream_link_await(link, probe, NULL,
                                   probe_ms < deadline_ms ? probe_ms : deadline_ms);
        if (r < 0 && r != AL_ERR_TIMEOUT)
            return r;
        if (is_modern(probe))
            return be_modern(link, probe->result);
    }
    initialize(link, hello);
    return finish_handshake(link, probe, hello, deadline_ms, ret_problem);
}

int al_upstream_shake_hands(struct al_upstream_link *link, int64_t deadline_ms, char **ret_problem)
{
    struct al_upstream_request probe = AL_UPSTREAM_REQUEST_INIT, hello = AL_UPSTREAM_REQUEST_INIT;
    int r = try_handshake(link, &probe, &hello, deadline_ms, ret_problem);

    forget(link, &probe, &hello);
    return r;
}
