// SPDX-License-Identifier: Apache-2.0
#include "cli/serve/http_door.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/review/web/site.h"
#include "http/bearer.h"
#include "http/throttle.h"
#include "mcp/http/endpoint.h"
#include "util/clock.h"

enum status {
    HTTP_OK = 200,
    HTTP_NO_CONTENT = 204,
    HTTP_BAD_REQUEST = 400,
    HTTP_UNAUTHORIZED = 401,
    HTTP_FORBIDDEN = 403,
    HTTP_NOT_FOUND = 404,
    HTTP_METHOD_NOT_ALLOWED = 405,
    HTTP_TOO_MANY_REQUESTS = 429,
    HTTP_UNAVAILABLE = 503,
};

struct al_http_door {
    struct al_http_access *access;
    struct al_endpoint *endpoint;
    struct al_site *site;
    struct al_throttle *throttle; /* of the HTTP thread */
    _Atomic(const struct al_http_place *) places;
};

struct al_http_door *al_http_door_new(struct al_http_access *access, struct al_endpoint *endpoint,
                                      struct al_site *site)
{
    struct al_http_door *door = al_calloc(1, sizeof(*door));

    door->access = access;
    door->endpoint = endpoint;
    door->site = site;
    door->throttle = al_throttle_new(AL_THROTTLE_ADDRESSES_MAX);
    return door;
}

void al_http_door_free(struct al_http_door *door)
{
    if (!door)
        return;
    al_throttle_free(door->throttle);
    free(door);
}

void al_http_door_open(struct al_http_door *door, const struct al_http_place *places)
{
    atomic_store(&door->places, places);
}

/* Answer with a line of text; `header` may be NULL. */
static void answer(struct al_http_exchange *exchange, enum status status, const char *name,
                   const char *value, const char *text)
{
    const struct al_http_header headers[] = {
        { "Content-Type", "text/plain; charset=utf-8" },
        { "Cache-Control", "no-store" },
        { name, value },
    };

    al_http_answer(exchange, status, headers, name ? 3 : 2, text, strlen(text));
}

/* --- CORS: for configured origins only --- */

static void allow_origin(struct al_http_exchange *exchange, const char *origin)
{
    al_http_add_header(exchange, "Access-Control-Allow-Origin", origin);
    al_http_add_header(exchange, "Access-Control-Expose-Headers",
                       "Mcp-Session-Id, WWW-Authenticate, Retry-After");
    al_http_add_header(exchange, "Vary", "Origin");
}

/* A browser asks before it sends a request with a token; it sends none with the question. */
static void answer_preflight(struct al_http_exchange *exchange)
{
    static const struct al_http_header headers[] = {
        { "Access-Control-Allow-Methods", "GET, POST, DELETE" },
        { "Access-Control-Allow-Headers",
          "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, "
          "Mcp-Protocol-Version, Mcp-Session-Id" },
        { "Access-Control-Max-Age", "600" },
    };

    al_http_answer(exchange, HTTP_NO_CONTENT, headers, AL_COUNT(headers), "", 0);
}

/* --- Who --- */

/* The principal of the request's token: a reference, or NULL. */
static struct al_principal *find_principal(struct al_http_door *door,
                                           const struct al_http_request *request)
{
    const char *token = NULL;
    size_t len = 0;

    (void)al_http_bearer(al_http_find_header(request, "authorization"), &token, &len);
    return al_http_access_find(door->access, token, len);
}

/* A request without a token is no guess.  The connection counts as nobody's, whoever had it. */
static void refuse_token(struct al_http_door *door, struct al_http_exchange *exchange,
                         const struct al_http_request *request)
{
    bool shown = al_http_find_header(request, "authorization") != NULL;

    (void)al_http_set_key(exchange, 0);
    if (shown)
        al_http_delay(exchange, al_throttle_wrong(door->throttle, request->peer, al_clock_ms()));
    answer(exchange, HTTP_UNAUTHORIZED, "WWW-Authenticate", "Bearer",
           shown ? "Authorization has no token of this server; it has to be: Bearer TOKEN\n"
                 : "a token is needed: Authorization: Bearer TOKEN\n");
}

static void check_mcp(struct al_http_door *door, struct al_http_exchange *exchange,
                      const struct al_http_request *request)
{
    struct al_principal *principal = find_principal(door, request);
    const bool counts = !al_http_access_needs_no_token(door->access);

    if (!principal)
        refuse_token(door, exchange, request);
    else if (!al_http_set_key(exchange, counts ? principal->number : 0))
        answer(exchange, HTTP_TOO_MANY_REQUESTS, "Retry-After", "1",
               "too many connections of this token\n");
    else if (request->query)
        answer(exchange, HTTP_BAD_REQUEST, NULL, NULL, "/mcp takes no query\n");
    al_principal_unref(principal);
}

/* --- From where, and what --- */

/* The Origin of a request.  A page without a referrer sends `null`, which only the review's own
 * forms may: they have other proofs. */
static const char *find_origin(const struct al_http_request *request)
{
    const char *origin = al_http_find_header(request, "origin");

    return origin && !strcmp(origin, "null") && al_site_owns(request) ? NULL : origin;
}

static bool check_place(struct al_http_door *door, struct al_http_exchange *exchange,
                        const struct al_http_request *request)
{
    const struct al_http_place *places = atomic_load(&door->places);
    const struct al_http_place *place = places ? &places[request->listener] : NULL;

    if (!place)
        answer(exchange, HTTP_UNAVAILABLE, "Retry-After", "1", "the server starts\n");
    else if (!al_http_access_accepts_host(door->access, place,
                                          al_http_find_header(request, "host")))
        answer(exchange, HTTP_FORBIDDEN, NULL, NULL,
               "this Host is not served; add it to [serve] hosts of the server's configuration\n");
    else if (!al_http_access_accepts_origin(door->access, place, find_origin(request)))
        answer(
            exchange, HTTP_FORBIDDEN, NULL, NULL,
            "this Origin is not served; add it to [serve] origins of the server's configuration\n");
    else
        return true;
    return false;
}

static void answer_health(struct al_http_exchange *exchange, const struct al_http_request *request)
{
    if (!strcmp(request->method, "GET") || !strcmp(request->method, "HEAD"))
        answer(exchange, HTTP_OK, NULL, NULL, "ok");
    else
        answer(exchange, HTTP_METHOD_NOT_ALLOWED, "Allow", "GET, HEAD", "GET only\n");
}

static void on_headers(void *payload, struct al_http_exchange *exchange,
                       const struct al_http_request *request)
{
    struct al_http_door *door = payload;
    const char *origin = al_http_find_header(request, "origin");
    bool is_configured;

    if (!check_place(door, exchange, request))
        return;
    if (al_site_owns(request)) {
        al_site_on_headers(door->site, exchange, request);
        return;
    }
    is_configured = origin && al_http_access_is_configured_origin(door->access, origin);
    if (is_configured)
        allow_origin(exchange, origin);
    if (!strcmp(request->path, "/health"))
        answer_health(exchange, request);
    else if (strcmp(request->path, "/mcp") != 0)
        answer(exchange, HTTP_NOT_FOUND, NULL, NULL, "MCP is served at /mcp\n");
    else if (is_configured && !strcmp(request->method, "OPTIONS"))
        answer_preflight(exchange);
    else
        check_mcp(door, exchange, request);
}

/* --- The endpoint --- */

/* The token is looked up again: it may have been removed while the body arrived. */
static void on_request(void *payload, struct al_http_exchange *exchange,
                       const struct al_http_request *request)
{
    struct al_http_door *door = payload;
    struct al_principal *principal;

    if (al_site_owns(request)) {
        al_site_on_request(door->site, exchange, request);
        return;
    }
    principal = find_principal(door, request);
    if (principal)
        al_endpoint_request(door->endpoint, principal, exchange);
    else
        refuse_token(door, exchange, request);
    al_principal_unref(principal);
}

/* The endpoint sets the data of the exchanges that it got. */
static void on_gone(void *payload, struct al_http_exchange *exchange)
{
    struct al_http_door *door = payload;

    if (al_site_owns(al_http_request(exchange)))
        al_site_on_gone(door->site, exchange);
    else if (al_http_data(exchange))
        al_endpoint_gone(door->endpoint, exchange);
}

static void on_end(void *payload, struct al_http_exchange *exchange)
{
    struct al_http_door *door = payload;

    if (al_site_owns(al_http_request(exchange)))
        al_site_on_gone(door->site, exchange);
    else if (al_http_data(exchange))
        al_endpoint_end(door->endpoint, exchange);
}

const struct al_http_handler al_http_door_handler = {
    .on_headers = on_headers,
    .on_request = on_request,
    .on_gone = on_gone,
    .on_end = on_end,
};
