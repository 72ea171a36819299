// SPDX-License-Identifier: Apache-2.0
#include "review/web/site.h"
#include "review/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/lock.h"
#include "review/queue.h"
#include "review/web/private.h"
#include "serve/http/address.h"

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

/* --- Answers --- */

/* Give the answer to a request the headers that keep other pages from showing, reading or steering
 * this one.  Source: Content Security Policy Level 3; Fetch Standard, 3.7. */
static void add_headers(struct al_http_exchange *exchange)
{
    static const struct al_http_header headers[] = {
        { "Content-Security-Policy",
          "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
          "form-action 'self'; base-uri 'none'; frame-ancestors 'none'" },
        { "X-Frame-Options", "DENY" },
        { "X-Content-Type-Options", "nosniff" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Cache-Control", "no-store" },
    };

    for (size_t i = 0; i < AL_COUNT(headers); i++)
        al_http_add_header(exchange, headers[i].name, headers[i].value);
}

static void answer(struct al_http_exchange *exchange, unsigned status, const char *type,
                   const char *text, size_t len)
{
    const struct al_http_header headers[] = { { "Content-Type", type } };

    al_http_answer(exchange, status, headers, AL_COUNT(headers), text, len);
}

void al_web_answer_page(struct al_http_exchange *exchange, unsigned status,
                        const struct al_str *page)
{
    answer(exchange, status, "text/html; charset=utf-8", page->buf, page->len);
}

static const char *heading_of(unsigned status)
{
    static const struct {
        unsigned status;
        const char *heading;
    } headings[] = {
        { 400, "This request is wrong" }, { 403, "This is not allowed" },
        { 404, "There is no such page" }, { 405, "This page takes no such request" },
        { 409, "Nothing was done" },      { 413, "This is too much" },
        { 500, "This failed" },           { 503, "Not now" },
    };

    for (size_t i = 0; i < AL_COUNT(headings); i++)
        if (headings[i].status == status)
            return headings[i].heading;
    return "airlock review";
}

static void answer_sentence(struct al_http_exchange *exchange, unsigned status,
                            const char *sentence, bool with_link)
{
    al_auto(al_str_clear) struct al_str page = AL_STR_INIT;

    al_page_message(heading_of(status), sentence, with_link, &page);
    al_web_answer_page(exchange, status, &page);
}

void al_web_answer_message(struct al_http_exchange *exchange, unsigned status, const char *sentence)
{
    answer_sentence(exchange, status, sentence, true);
}

/* The same for somebody who may not see /review, so it has no link to it. */
static void refuse(struct al_http_exchange *exchange, unsigned status, const char *sentence)
{
    answer_sentence(exchange, status, sentence, false);
}

void al_web_answer_elsewhere(struct al_http_exchange *exchange, const char *path)
{
    const struct al_http_header headers[] = { { "Location", path } };

    al_http_answer(exchange, 303, headers, AL_COUNT(headers), "", 0);
}

/* --- Paths --- */

#define DIGITS       "0123456789"
#define HEX          DIGITS "abcdef"
#define UUID_CHARS   36
#define NUMBER_CHARS 20

/* A page: its path is `begin`, an id of so many of these characters, `end`. */
struct route {
    const char *begin, *end;
    const char *chars; /* NULL: there is no id */
    size_t min, max;
    enum al_visit_kind kind;
    bool posts;                /* it takes POST too */
    enum al_visit_kind posted; /* what that is for */
};

static const struct route routes[] = {
    { "/review", "", .kind = AL_VISIT_OVERVIEW },
    { "/review/", "", .kind = AL_VISIT_OVERVIEW },
    { "/review/live", "", .kind = AL_VISIT_LIVE },
    { "/review/events", "", .kind = AL_VISIT_EVENTS },
    { "/review/style.css", "", .kind = AL_VISIT_STYLE },
    { "/review/script.js", "", .kind = AL_VISIT_SCRIPT },
    { "/review/", "", HEX, AL_REVIEW_ID_CHARS, AL_REVIEW_ID_CHARS, AL_VISIT_QUESTION, true,
      AL_VISIT_ANSWER },
    { "/review/staged/", "", HEX "-", UUID_CHARS, UUID_CHARS, AL_VISIT_STAGED },
    { "/review/execution/", "", DIGITS, 1, NUMBER_CHARS, AL_VISIT_EXECUTION },
    { "/review/execution/", "/rollback", DIGITS, 1, NUMBER_CHARS, AL_VISIT_PREVIEW, true,
      AL_VISIT_ROLL_BACK },
};

/* NULL: there is no such page.  The id is borrowed from the path. */
static const struct route *find_route(const char *path, const char **ret_id, size_t *ret_len)
{
    for (size_t i = 0; i < AL_COUNT(routes); i++) {
        const struct route *route = &routes[i];
        const char *id = path + strlen(route->begin);

        if (!al_starts_with(path, route->begin))
            continue;
        *ret_id = route->chars ? id : NULL;
        *ret_len = route->chars ? strspn(id, route->chars) : 0;
        if (*ret_len >= route->min && *ret_len <= route->max && !strcmp(id + *ret_len, route->end))
            return route;
    }
    return NULL;
}

/* Have calls wait for the site, whether or not a browser looks at it. */
static bool attend(struct al_site *site)
{
    struct al_visit *visit = al_calloc(1, sizeof(*visit));

    *visit = (struct al_visit){ .site = site,
                                .kind = AL_VISIT_ATTEND,
                                .door = al_review_door_new(&site->dirs) };
    if (visit->door && al_visit_start(visit))
        return true;
    al_visit_free(visit);
    return false;
}

int al_site_new(const struct al_setup *setup, const struct al_strv *dirs, bool always_attached,
                struct al_site **ret_site, struct al_error *err)
{
    struct al_site *site = al_calloc(1, sizeof(*site));

    site->setup = setup;
    al_strv_add_all(&site->dirs, dirs);
    site->keys = al_web_keys_new();
    (void)sem_init(&site->jobs, 0, AL_VISIT_JOBS_MAX);
    (void)pthread_mutex_init(&site->lock, NULL);
    (void)pthread_cond_init(&site->left, NULL);
    site->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (site->stop_fd < 0 || (always_attached && !attend(site))) {
        (void)al_error_errno(err, errno, "the review page cannot be served");
        al_site_free(site);
        return AL_ERR_EXECUTION;
    }
    *ret_site = site;
    return 0;
}

void al_site_stop(struct al_site *site)
{
    if (!site)
        return;
    al_hold(&site->lock);
    site->stops = true;
    (void)eventfd_write(site->stop_fd, 1);
    while (site->nvisits || site->nstreams)
        (void)pthread_cond_wait(&site->left, &site->lock);
}

void al_site_free(struct al_site *site)
{
    if (!site)
        return;
    al_strv_clear(&site->dirs);
    al_web_keys_free(site->keys);
    al_close(site->stop_fd);
    (void)sem_destroy(&site->jobs);
    (void)pthread_cond_destroy(&site->left);
    (void)pthread_mutex_destroy(&site->lock);
    free(site);
}

char *al_site_link(struct al_site *site, const char *origin)
{
    struct al_web_key key;
    char *link;

    al_web_keys_make(site->keys, &key);
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
static bool has_key(const struct route *route, const struct al_http_request *request)
{
    return route->kind == AL_VISIT_OVERVIEW && request->query &&
           al_starts_with(request->query, "k=");
}

/* A browser says of a request what has sent it.  A link may be anywhere; all else is the page's
 * own. Source: Fetch Metadata Request Headers. */
static bool is_foreign(const struct route *route, const struct al_http_request *request)
{
    const char *site = al_http_find_header(request, "sec-fetch-site");
    const bool may_be_linked =
        is_get(request) && route->kind != AL_VISIT_LIVE && route->kind != AL_VISIT_EVENTS;

    return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0 && !may_be_linked;
}

void al_site_on_headers(struct al_site *site, struct al_http_exchange *exchange,
                        const struct al_http_request *request)
{
    struct al_web_key csrf;
    const char *id;
    size_t len;
    const struct route *route = find_route(request->path, &id, &len);

    add_headers(exchange);
    if (!route) {
        refuse(exchange, 404, "The page of airlock review is at /review.");
    } else if (!is_get(request) && !(route->posts && !strcmp(request->method, "POST"))) {
        al_http_add_header(exchange, "Allow", route->posts ? "GET, HEAD, POST" : "GET, HEAD");
        refuse(exchange, 405, "This page can be read only.");
    } else if (is_foreign(route, request)) {
        refuse(exchange, 403, "Another page has sent this request; nothing was done.");
    } else if (route->kind != AL_VISIT_STYLE && route->kind != AL_VISIT_SCRIPT &&
               !has_key(route, request) &&
               !al_web_keys_find(site->keys, al_http_find_header(request, "cookie"), &csrf)) {
        refuse(exchange, 403,
               "This browser may not see the questions. Run airlock review --web in a "
               "terminal: it prints a link that opens this page.");
    }
}

/* --- What is it for? --- */

static void open_with_key(struct al_site *site, struct al_http_exchange *exchange,
                          const struct al_http_request *request)
{
    struct al_web_key cookie;
    al_auto(al_freep) char *key = al_web_field(request->query, "k"), *value = NULL;

    if (!al_web_keys_use(site->keys, key, &cookie)) {
        refuse(exchange, 403,
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

/* The outcome of the last answer, in the words of the page. */
static const char *notice_of(const char *said)
{
    static const char *const notices[] = {
        [AL_ANSWER_ONCE] = "Approved. The call goes on.",
        [AL_ANSWER_ALWAYS] = "Approved, now and later.",
        [AL_ANSWER_REJECT] = "Rejected. The agent is told.",
    };

    return notices[al_answer_of(said)];
}

/* The decision of a form.  False: it has none. */
static bool read_decision(const char *form, struct al_visit *visit)
{
    al_auto(al_freep) char *value = al_web_field(form, "decision");
    al_auto(al_freep) char *newest = al_web_field(form, "newest");

    if (visit->kind == AL_VISIT_ROLL_BACK) {
        visit->newest = newest ? strtoull(newest, NULL, 10) : 0;
        return value && !strcmp(value, "rollback") && visit->newest;
    }
    visit->decision = al_answer_of(value);
    visit->reason = al_web_field(form, "reason");
    return visit->decision != AL_ANSWER_NONE;
}

/* Read the form of a POST.  False: it is refused, and has its answer. */
static bool read_form(const struct al_http_request *http, struct al_visit *visit)
{
    al_auto(al_freep) char *csrf = NULL;

    if (http->body_len > AL_WEB_FORM_MAX_BYTES) {
        al_web_answer_message(visit->exchange, 413, "The form is too long; shorten the reason.");
        return false;
    }
    csrf = al_web_field(http->body, "csrf");
    if (!al_web_key_is(&visit->csrf, csrf))
        al_web_answer_message(visit->exchange, 403,
                              "The form is not of this page; load the page again.");
    else if (!read_decision(http->body, visit))
        al_web_answer_message(visit->exchange, 400,
                              "The form has no decision; press one of its buttons.");
    else
        return true;
    return false;
}

/* Serve a request of a browser that may see the page; `id` is taken over. */
static void hand_over(struct al_site *site, struct al_http_exchange *exchange,
                      const struct al_http_request *http, const struct route *route, char *id,
                      const struct al_web_key *csrf)
{
    const bool posts = !strcmp(http->method, "POST");
    al_auto(al_freep) char *page = al_web_field(http->query, "page");
    al_auto(al_freep) char *said = al_web_field(http->query, "said");
    al_auto(al_freep) char *changes = al_web_field(http->query, "changes");
    struct al_visit *visit = al_calloc(1, sizeof(*visit));

    *visit = (struct al_visit){
        .site = site,
        .kind = posts ? route->posted : route->kind,
        .exchange = al_http_ref(exchange),
        .csrf = *csrf,
        .frame = { .notice = notice_of(said),
                   .filter = al_web_field(http->query, "q"),
                   .only_changes = changes },
        .id = id,
        .page = page ? strtoull(page, NULL, 10) : 0,
    };
    visit->page -= visit->page > 0; /* the first is 1 */
    if (!posts || read_form(http, visit)) {
        if (al_visit_start(visit))
            return;
        al_web_answer_message(exchange, 503,
                              "Too many requests wait, or the server ends. Load the page again.");
    }
    al_visit_free(visit);
}

void al_site_on_request(struct al_site *site, struct al_http_exchange *exchange,
                        const struct al_http_request *request)
{
    struct al_web_key csrf;
    const char *id;
    size_t len;
    const struct route *route = find_route(request->path, &id, &len);

    if (!route) {
        refuse(exchange, 404, "The page of airlock review is at /review.");
    } else if (route->kind == AL_VISIT_STYLE) {
        answer(exchange, 200, "text/css; charset=utf-8", al_page_style, strlen(al_page_style));
    } else if (route->kind == AL_VISIT_SCRIPT) {
        answer(exchange, 200, "text/javascript; charset=utf-8", al_page_script,
               strlen(al_page_script));
    } else if (has_key(route, request)) {
        open_with_key(site, exchange, request);
    } else if (!al_web_keys_find(site->keys, al_http_find_header(request, "cookie"), &csrf)) {
        refuse(exchange, 403, "This browser may no longer see the questions.");
    } else {
        hand_over(site, exchange, request, route, id ? al_strndup(id, len) : NULL, &csrf);
    }
}
