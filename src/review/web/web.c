// SPDX-License-Identifier: Apache-2.0
#include "review/web/web.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "cli/signals.h"
#include "proc/proc.h"
#include "review/door.h"
#include "review/web/site.h"
#include "serve/http/server.h"

/* A browser that takes its last answer has this long, in milliseconds. */
#define LAST_ANSWERS_MS 1000

/* The page, served by this program. */
struct serving {
    struct al_http_server *server;
    struct al_site *site;
    struct al_http_place place;
};

/* --- Requests --- */

static bool check_place(const struct serving *serving, struct al_http_exchange *exchange,
                        const struct al_http_request *request)
{
    static const struct al_strv none = { .items = NULL };
    static const char refusal[] = "this page is served to browsers of this machine only\n";
    const char *origin = al_http_find_header(request, "origin");

    if (al_http_accepts_host(&serving->place, &none, al_http_find_header(request, "host")) &&
        ((origin && !strcmp(origin, "null")) ||
         al_http_accepts_origin(&serving->place, &none, origin)))
        return true;
    al_http_answer(exchange, 403, NULL, 0, refusal, strlen(refusal));
    return false;
}

static void on_headers(void *payload, struct al_http_exchange *exchange,
                       const struct al_http_request *request)
{
    const struct serving *serving = payload;

    if (check_place(serving, exchange, request))
        al_site_on_headers(serving->site, exchange, request);
}

static void on_request(void *payload, struct al_http_exchange *exchange,
                       const struct al_http_request *request)
{
    const struct serving *serving = payload;

    al_site_on_request(serving->site, exchange, request);
}

static const struct al_http_handler handler = {
    .on_headers = on_headers,
    .on_request = on_request,
};

/* --- From start to end --- */

static int read_address(const char *text, struct al_http_address *ret, struct al_error *err)
{
    const int r = al_http_address_parse(text ? text : "127.0.0.1:0", ret, err);

    if (r == 0 && (!ret->loopback || ret->family == AF_UNIX))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "--web serves on loopback only, such as 127.0.0.1:8080; for other "
                            "machines there is airlock serve --http");
    return r;
}

static int listen_at(struct serving *serving, const struct al_http_address *address,
                     struct al_error *err)
{
    const struct al_http_listener listener = { .address = *address };
    const struct al_http_address *real;
    const int r = al_http_server_new(
        &(struct al_http_options){
            .listeners = &listener, .listener_count = 1, .handler = &handler, .payload = serving },
        &serving->server, err);

    if (r < 0)
        return r;
    real = al_http_server_address(serving->server, 0);
    serving->place = (struct al_http_place){ .address = real->host, .port = real->port };
    return al_http_server_start(serving->server, err);
}

static void print_link(char *link)
{
    struct al_str out = AL_STR_INIT;

    al_str_addf(&out, "%s\n", link);
    al_cli_print(STDOUT_FILENO, &out);
    explicit_bzero(out.buf, out.len);
    al_str_clear(&out);
    explicit_bzero(link, strlen(link));
    free(link);
}

/* The links of a page that begins now.  False: none can be made. */
static bool tell_link(const struct serving *serving)
{
    static const struct al_strv none = { .items = NULL };
    al_auto(al_freep) char *origin = al_web_origin(&serving->place, &none);
    char *link = al_site_link(serving->site, origin);

    if (!link)
        return false;
    print_link(link);
    al_log_note("the link works once, in one browser; Ctrl-C ends the page");
    return true;
}

static int start(struct serving *serving, const struct al_setup *setup, const struct al_strv *dirs,
                 const struct al_http_address *address, struct al_error *err)
{
    int r = al_proc_init(NULL, err); /* for children; before any thread is started */

    if (r == 0)
        r = al_site_new(setup, dirs, true, &serving->site, err);
    if (r == 0)
        r = listen_at(serving, address, err);
    return r;
}

/* The link of a server that serves the page already; NULL: there is none.  Caller frees. */
static char *find_link(const struct al_strv *dirs)
{
    struct al_review_door *door = al_review_door_peek(dirs);
    struct al_review_reply reply;
    char *link = NULL;
    size_t nasked;

    if (!door)
        return NULL;
    nasked = al_review_door_ask_links(door);
    for (; nasked && !link; nasked--) {
        al_review_door_await_reply(door, &reply);
        if (reply.outcome == AL_REVIEW_TAKEN && reply.message &&
            (al_starts_with(reply.message, "http://") || al_starts_with(reply.message, "https://")))
            link = al_take(&reply.message);
        al_review_reply_clear(&reply);
    }
    if (al_review_door_problem(door))
        al_log_note("%s", al_review_door_problem(door));
    al_review_door_free(door);
    return link;
}

int al_review_web(struct al_setup *setup, const struct al_strv *dirs, const char *address)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct serving serving = { .server = NULL };
    struct al_http_address parsed;
    char *link;
    int r = read_address(address, &parsed, &err);

    if (r < 0)
        return al_cli_fail(&err);
    link = find_link(dirs);
    if (link) {
        print_link(link);
        return AL_EXIT_OK;
    }
    al_signals_block(setup);
    r = start(&serving, setup, dirs, &parsed, &err);
    if (r == 0 && tell_link(&serving))
        (void)al_signals_wait();
    al_signals_forget();
    al_site_stop(serving.site);
    if (serving.server)
        (void)al_http_server_drain(serving.server, LAST_ANSWERS_MS);
    al_http_server_free(serving.server);
    al_site_free(serving.site);
    return r < 0 ? al_cli_fail(&err) : AL_EXIT_OK;
}
