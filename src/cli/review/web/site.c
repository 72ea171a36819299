// SPDX-License-Identifier: Apache-2.0
#include "cli/review/web/site.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/review/web/answer.h"
#include "cli/review/web/desk.h"
#include "cli/review/web/form.h"
#include "cli/review/web/keys.h"
#include "cli/review/web/page.h"
#include "http/origin.h"
#include "review/queue.h"
#include "util/mem.h"
#include "util/str.h"

char *al_web_origin(const struct al_http_place *place, const struct al_strv *hosts)
{
    const char *address = place->address;
    bool is_ipv6;

    if (!address)
        return NULL;
    if (place->behind_proxy && !al_http_is_loopback(address) && hosts->count)
        return al_asprintf("https://%s", hosts->items[0]);
    if (!strcmp(address, "0.0.0.0"))
        address = "127.0.0.1";
    else if (!strcmp(address, "::"))
        address = "::1";
    is_ipv6 = strchr(address, ':') != NULL;
    return al_asprintf("http%s://%s%s%s:%u", place->tls ? "s" : "", is_ipv6 ? "[" : "", address,
                       is_ipv6 ? "]" : "", (unsigned)place->port);
}

/* The pages. */
enum al_route_kind {
    AL_ROUTE_OVERVIEW,
    AL_ROUTE_LIVE,
    AL_ROUTE_EVENTS,
    AL_ROUTE_STYLE,
    AL_ROUTE_SCRIPT,
    AL_ROUTE_QUESTION,
    AL_ROUTE_EXECUTION,
    AL_ROUTE_ROLLBACK,
    AL_ROUTE_STAGED,
};

/* A page and what its path names. */
struct al_route {
    enum al_route_kind kind;
    const char *id; /**< of a question or a staged commit; borrowed from the path */
    uint64_t seq;   /**< of an execution */
    bool posts;     /**< it takes POST too */
    bool is_open;   /**< it needs no cookie: nothing of the user is in it */
};

/* "3f2a9c10" */
static bool is_question_id(const char *text)
{
    return strlen(text) == AL_REVIEW_ID_CHARS &&
           strspn(text, "0123456789abcdef") == AL_REVIEW_ID_CHARS;
}

#define UUID_CHARS 36

static bool is_uuid(const char *text)
{
    return strlen(text) == UUID_CHARS && strspn(text, "0123456789abcdef-") == UUID_CHARS;
}

/* "12", "12/rollback" */
static bool find_execution(const char *text, struct al_route *route)
{
    const size_t len = strcspn(text, "/");
    al_auto(al_freep) char *number = al_asprintf("%.*s", (int)len, text);

    *route = (struct al_route){ .kind = AL_ROUTE_EXECUTION };
    if (!strcmp(text + len, "/rollback"))
        *route = (struct al_route){ .kind = AL_ROUTE_ROLLBACK, .posts = true };
    else if (text[len])
        return false;
    return al_web_number(number, &route->seq);
}

/* False: there is no such page. */
static bool route_find(const char *path, struct al_route *ret_route)
{
    static const struct {
        const char *path;
        struct al_route route;
    } fixed[] = {
        { "/review", { .kind = AL_ROUTE_OVERVIEW } },
        { "/review/", { .kind = AL_ROUTE_OVERVIEW } },
        { "/review/live", { .kind = AL_ROUTE_LIVE } },
        { "/review/events", { .kind = AL_ROUTE_EVENTS } },
        { "/review/style.css", { .kind = AL_ROUTE_STYLE, .is_open = true } },
        { "/review/script.js", { .kind = AL_ROUTE_SCRIPT, .is_open = true } },
    };
    static const char execution[] = "/review/execution/", staged[] = "/review/staged/",
                      below[] = "/review/";

    for (size_t i = 0; i < AL_COUNT(fixed); i++)
        if (!strcmp(fixed[i].path, path)) {
            *ret_route = fixed[i].route;
            return true;
        }
    if (al_starts_with(path, execution))
        return find_execution(path + strlen(execution), ret_route);
    if (al_starts_with(path, staged)) {
        *ret_route = (struct al_route){ .kind = AL_ROUTE_STAGED, .id = path + strlen(staged) };
        return is_uuid(ret_route->id);
    }
    if (!al_starts_with(path, below))
        return false;
    *ret_route =
        (struct al_route){ .kind = AL_ROUTE_QUESTION, .id = path + strlen(below), .posts = true };
    return is_question_id(ret_route->id);
}

struct al_site {
    struct al_desk *desk;
    struct al_web_keys *keys;
};

int al_site_new(const struct al_site_options *options, struct al_site **ret_site,
                struct al_error *err)
{
    struct al_site *site = al_calloc(1, sizeof(*site));
    const int r =
        al_desk_new(options->setup, options->dirs, options->always_attached, &site->desk, err);

    if (r < 0) {
        free(site);
        return r;
    }
    site->keys = al_web_keys_new();
    *ret_site = site;
    return 0;
}

void al_site_stop(struct al_site *site)
{
    if (site)
        al_desk_stop(site->desk);
}

void al_site_free(struct al_site *site)
{
    if (!site)
        return;
    al_desk_free(site->desk);
    al_web_keys_free(site->keys);
    free(site);
}

char *al_site_link(struct al_site *site, const char *origin)
{
    struct al_web_key key;
    char *link = NULL;

    if (al_web_keys_make(site->keys, &key))
        link = al_asprintf("%s/review?k=%s", origin, key.text);
    explicit_bzero(&key, sizeof(key));
    return link;
}

bool al_site_owns(const struct al_http_request *request)
{
    return !strcmp(request->path, "/review") || al_starts_with(request->path, "/review/");
}

/* --- May it come in? --- */

static bool is_get(const struct al_http_request *request)
{
    return !strcmp(request->method, "GET") || !strcmp(request->method, "HEAD");
}

/* A link with a key has no cookie yet. */
static bool has_key(const struct al_route *route, const struct al_http_request *request)
{
    return route->kind == AL_ROUTE_OVERVIEW && request->query &&
           al_starts_with(request->query, "k=");
}

/* A browser says of a request what has sent it.  A link may be anywhere; all else is the page's
 * own. Source: Fetch Metadata Request Headers. */
static bool is_foreign(const struct al_route *route, const struct al_http_request *request)
{
    const char *site = al_http_find_header(request, "sec-fetch-site");
    const bool may_be_linked =
        is_get(request) && route->kind != AL_ROUTE_LIVE && route->kind != AL_ROUTE_EVENTS;

    return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0 && !may_be_linked;
}

void al_site_on_headers(struct al_site *site, struct al_http_exchange *exchange,
                        const struct al_http_request *request)
{
    struct al_web_key csrf;
    struct al_route route;

    al_web_add_headers(exchange);
    if (!route_find(request->path, &route)) {
        al_web_refuse(exchange, AL_WEB_NOT_FOUND, "The page of airlock review is at /review.");
    } else if (!is_get(request) && !(route.posts && !strcmp(request->method, "POST"))) {
        al_http_add_header(exchange, "Allow", route.posts ? "GET, HEAD, POST" : "GET, HEAD");
        al_web_refuse(exchange, AL_WEB_METHOD_NOT_ALLOWED, "This page can be read only.");
    } else if (is_foreign(&route, request)) {
        al_web_refuse(exchange, AL_WEB_FORBIDDEN,
                      "Another page has sent this request; nothing was done.");
    } else if (!route.is_open && !has_key(&route, request) &&
               !al_web_keys_find(site->keys, al_http_find_header(request, "cookie"), &csrf)) {
        al_web_refuse(exchange, AL_WEB_FORBIDDEN,
                      "This browser may not see the questions. Run airlock review --web in a "
                      "terminal: it prints a link that opens this page.");
    }
}

/* --- What is it for? --- */

static void open_with_key(struct al_site *site, struct al_http_exchange *exchange,
                          const struct al_http_request *request, const char *key)
{
    struct al_web_key cookie;
    al_auto(al_freep) char *value = NULL;

    if (!al_web_keys_use(site->keys, key, &cookie)) {
        al_web_refuse(exchange, AL_WEB_FORBIDDEN,
                      "This link was used already, or is none of this server's. Run airlock review "
                      "--web again for another one.");
        return;
    }
    value = al_asprintf(AL_WEB_COOKIE "=%s; Path=/review; HttpOnly; SameSite=Strict%s", cookie.text,
                        request->tls ? "; Secure" : "");
    al_http_add_header(exchange, "Set-Cookie", value);
    al_web_answer_elsewhere(exchange, "/review");
    explicit_bzero(&cookie, sizeof(cookie));
    explicit_bzero(value, strlen(value));
}

/* What the last answer came to, in the words of the page. */
static const char *notice_of(const char *said)
{
    return !said                     ? NULL
           : !strcmp(said, "once")   ? "Approved. The call goes on."
           : !strcmp(said, "always") ? "Approved, now and later."
           : !strcmp(said, "reject") ? "Rejected. The agent is told."
                                     : NULL;
}

static enum al_desk_kind kind_of(const struct al_route *route, bool posts)
{
    static const enum al_desk_kind kinds[] = {
        [AL_ROUTE_OVERVIEW] = AL_DESK_OVERVIEW, [AL_ROUTE_LIVE] = AL_DESK_LIVE,
        [AL_ROUTE_EVENTS] = AL_DESK_EVENTS,     [AL_ROUTE_QUESTION] = AL_DESK_QUESTION,
        [AL_ROUTE_ROLLBACK] = AL_DESK_PREVIEW,  [AL_ROUTE_EXECUTION] = AL_DESK_EXECUTION,
        [AL_ROUTE_STAGED] = AL_DESK_STAGED,
    };

    if (posts)
        return route->kind == AL_ROUTE_QUESTION ? AL_DESK_ANSWER : AL_DESK_ROLL_BACK;
    return kinds[route->kind];
}

/* The decision of a form.  False: it has none. */
static bool read_decision(const struct al_web_form *form, struct al_desk_request *request)
{
    static const struct {
        const char *value;
        enum al_answer decision;
    } decisions[] = {
        { "once", AL_ANSWER_ONCE },
        { "always", AL_ANSWER_ALWAYS },
        { "reject", AL_ANSWER_REJECT },
    };
    const char *value = al_web_form_get(form, "decision");

    if (request->kind == AL_DESK_ROLL_BACK)
        return value && !strcmp(value, "rollback") &&
               al_web_number(al_web_form_get(form, "newest"), &request->newest);
    for (size_t i = 0; i < AL_COUNT(decisions); i++)
        if (value && !strcmp(value, decisions[i].value)) {
            const char *reason = al_web_form_get(form, "reason");

            request->decision = decisions[i].decision;
            request->reason = reason && *reason ? al_strdup(reason) : NULL;
            return true;
        }
    return false;
}

/* Read the form of a POST.  False: it is refused, and has its answer. */
static bool read_form(const struct al_http_request *http, struct al_desk_request *request)
{
    al_auto(al_web_form_clear) struct al_web_form form = AL_WEB_FORM_INIT;

    if (http->body_len > AL_WEB_FORM_MAX_BYTES)
        al_web_answer_message(request->exchange, AL_WEB_TOO_LARGE,
                              "The form is too long; shorten the reason.");
    else if (!al_web_form_read(http->body, http->body_len, &form))
        al_web_answer_message(request->exchange, AL_WEB_BAD_REQUEST, "The form cannot be read.");
    else if (!al_web_key_is(&request->csrf, al_web_form_get(&form, "csrf")))
        al_web_answer_message(request->exchange, AL_WEB_FORBIDDEN,
                              "The form is not of this page; load the page again.");
    else if (!read_decision(&form, request))
        al_web_answer_message(request->exchange, AL_WEB_BAD_REQUEST,
                              "The form has no decision; press one of its buttons.");
    else
        return true;
    return false;
}

/* Put a request of a browser that may see the page on the desk. */
static void hand_over(struct al_site *site, struct al_http_exchange *exchange,
                      const struct al_http_request *http, const struct al_route *route,
                      const struct al_web_form *query, const struct al_web_key *csrf)
{
    const bool posts = !strcmp(http->method, "POST");
    struct al_desk_request request = {
        .kind = kind_of(route, posts),
        .exchange = al_http_ref(exchange),
        .csrf = *csrf,
        .id = route->id ? al_strdup(route->id) : NULL,
        .seq = route->seq,
        .notice = notice_of(al_web_form_get(query, "said")),
    };
    uint64_t page = 0;

    if (al_web_number(al_web_form_get(query, "page"), &page) && page)
        request.page = page - 1;
    if (posts && !read_form(http, &request)) {
        al_desk_request_clear(&request);
        return;
    }
    al_http_set_data(exchange, site);
    if (al_desk_put(site->desk, &request))
        return;
    al_web_answer_message(exchange, AL_WEB_UNAVAILABLE,
                          "Too many requests wait, or the server ends. Load the page again.");
    al_desk_request_clear(&request);
}

void al_site_on_request(struct al_site *site, struct al_http_exchange *exchange,
                        const struct al_http_request *request)
{
    al_auto(al_web_form_clear) struct al_web_form query = AL_WEB_FORM_INIT;
    const char *text = request->query ? request->query : "";
    struct al_web_key csrf;
    struct al_route route;

    if (!route_find(request->path, &route)) {
        al_web_refuse(exchange, AL_WEB_NOT_FOUND, "The page of airlock review is at /review.");
    } else if (!al_web_form_read(text, strlen(text), &query)) {
        al_web_refuse(exchange, AL_WEB_BAD_REQUEST, "The address of this page is wrong.");
    } else if (route.kind == AL_ROUTE_STYLE) {
        al_web_answer_file(exchange, "text/css; charset=utf-8", al_page_style);
    } else if (route.kind == AL_ROUTE_SCRIPT) {
        al_web_answer_file(exchange, "text/javascript; charset=utf-8", al_page_script);
    } else if (has_key(&route, request)) {
        open_with_key(site, exchange, request, al_web_form_get(&query, "k"));
    } else if (!al_web_keys_find(site->keys, al_http_find_header(request, "cookie"), &csrf)) {
        al_web_refuse(exchange, AL_WEB_FORBIDDEN, "This browser may no longer see the questions.");
    } else {
        hand_over(site, exchange, request, &route, &query, &csrf);
    }
}

void al_site_on_gone(struct al_site *site, struct al_http_exchange *exchange)
{
    if (al_http_data(exchange))
        al_desk_gone(site->desk, exchange);
}
