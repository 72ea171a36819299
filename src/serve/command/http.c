// SPDX-License-Identifier: Apache-2.0
/*
 * Admission over HTTP: the tokens, what each may do, and the accepted hosts and origins.  All of it
 * comes from one reading of the configuration and the token file.  A later reading replaces it as a
 * whole, or not at all.  A token whose grant, agent and rules are the same in both keeps its
 * account, and so its sessions; each other account of the old reading is ended.
 */
#include "serve/command/http.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/config/keys.h"
#include "cli/config/tokens.h"
#include "cli/environment.h"
#include "cli/names.h"
#include "cli/print.h"
#include "cli/signals.h"
#include "guard/root.h"
#include "guard/text.h"
#include "history/journal.h"
#include "review/server.h"
#include "review/web/site.h"
#include "serve/command/warn.h"
#include "serve/http/address.h"
#include "serve/http/server.h"
#include "serve/http/throttle.h"
#include "serve/mcp/http/endpoint.h"
#include "staging/settings.h"

/* An account and the text of its rights. */
struct entry {
    struct al_account *account; /* a reference; NULL: not made yet */
    char *rights;
};

/* One reading of the configuration and the token file.  Its configuration stays until the end: a
 * later reading keeps accounts that borrow from it. */
struct reading {
    struct reading *older;
    struct al_config config;
    struct al_tokens tokens;
    struct entry *entries; /* one for each token; without tokens one for everybody */
    size_t count;
};

struct serving {
    struct al_setup *setup;
    const struct al_options *options;
    struct al_endpoint *endpoint;
    struct al_http_server *server;
    struct al_site *site;          /* the review page */
    struct al_throttle *throttle;  /* of the HTTP thread */
    struct al_tokens made;         /* the token that was made, if there is no file */
    const struct al_config *begun; /* of the first reading: some keys hold until the end */
    pthread_mutex_t lock;          /* guards `now`, which the main thread alone changes */
    struct reading *now;
};

/* Release what the session of an account has for itself. */
static void release(struct al_session *session)
{
    al_setup_clear_agent(session);
    free((char *)session->agent);
}

static const char *grant_name(const struct al_config *config, const struct al_token *token)
{
    return token && token->grant ? token->grant : config->serve.grant;
}

static char *choose_agent(const struct al_setup *setup, const struct al_config *config,
                          const struct al_token *token)
{
    return al_setup_agent_name(setup, config, token ? token->agent : NULL,
                               grant_name(config, token));
}

/* --- The text of rights --- */

/* Choose the rights of a token, and describe them. */
static int rights_describe(const struct al_setup *setup, struct al_config *config,
                           const struct al_token *token, struct al_str *ret_text,
                           struct al_error *err)
{
    al_auto(al_freep) char *agent = choose_agent(setup, config, token);
    const struct al_policy *policy = &config->approval.policy;
    const struct al_grant *grant = NULL;
    int r = al_setup_choose_grant(setup, config, grant_name(config, token), &grant, err);

    if (r < 0)
        return r;
    al_str_addf(ret_text, "%s\n", agent ? agent : "");
    for (; grant; grant = grant->also) {
        al_str_addf(ret_text, "%s:", grant->name);
        al_keys_describe(AL_KEY_OF_GRANT, grant, ret_text);
    }
    for (size_t i = 0; i < policy->count; i++) {
        al_str_addf(ret_text, "\n%u:", policy->rules[i].line);
        al_keys_describe(AL_KEY_OF_RULE, &policy->rules[i], ret_text);
    }
    al_str_addf(ret_text, "\n%d,%" PRIu32 ",%" PRIu32, config->approval.mode,
                config->git.timeout_ms, config->git.max_bytes);
    return 0;
}

/* --- The account --- */

/* Make the account of a token. */
static int make_account(const struct serving *serving, struct al_config *config,
                        const struct al_token *token, struct al_account **ret_account,
                        struct al_error *err)
{
    const struct al_setup *setup = serving->setup;
    struct al_session session = setup->session;
    int r = al_setup_choose_grant(setup, config, grant_name(config, token), &session.grant, err);

    if (r < 0)
        return r;
    session.agent = choose_agent(setup, config, token);
    session.approvals = NULL;
    session.mode = config->approval.mode;
    session.policy = &config->approval.policy;
    session.defaults.timeout_ms = config->git.timeout_ms;
    session.defaults.max_bytes = config->git.max_bytes;
    if (!al_setup_may_mount(setup, session.grant))
        session.mounts = NULL;
    r = al_setup_agent(setup, &session, err);
    if (r < 0)
        release(&session);
    else
        *ret_account = al_account_new(serving->endpoint, &session, release);
    return r;
}

static bool has_account(const struct reading *reading, const struct al_account *account)
{
    for (size_t i = 0; reading && i < reading->count; i++)
        if (reading->entries[i].account == account)
            return true;
    return false;
}

/* Drop the tokens of a reading, and end its accounts but for those that another one has (NULL:
 * none).  Returns how many were ended. */
static size_t drop_tokens(struct reading *reading, const struct reading *other)
{
    size_t ended = 0;

    for (size_t i = 0; i < reading->count; i++) {
        struct al_account *account = reading->entries[i].account;

        if (account && !has_account(other, account)) {
            al_account_end(account);
            ended++;
        }
        al_account_unref(account);
        free(reading->entries[i].rights);
    }
    free(al_take(&reading->entries));
    reading->count = 0;
    al_tokens_clear(&reading->tokens);
    return ended;
}

static void free_reading(struct reading *reading)
{
    al_config_clear(&reading->config);
    free(reading);
}

/* --- Reading --- */

/* Options and toolsets of the start hold until the server ends. */
static int check_config(const struct al_setup *setup, struct al_config *config,
                        struct al_error *err)
{
    const struct al_config *begun = &setup->config;

    if (begun->file && (!config->file || strcmp(begun->file, config->file) != 0))
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: the configuration is gone", begun->file);
    if (begun->serve.token_file && !config->serve.token_file)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s: serve.token_file is gone; name the token file",
                            config->file ? config->file : "");
    return al_names_check(setup, config, err);
}

static int read_config(const struct serving *serving, struct al_config *config,
                       struct al_error *err)
{
    const struct al_setup *setup = serving->setup;
    int r;

    al_config_clear(config);
    r = al_setup_read_config(setup, serving->options, config, err);
    if (r == 0)
        r = check_config(setup, config, err);
    if (r == 0)
        config->approval.policy.narrower = &setup->worker.policy;
    return r;
}

static int read_tokens(const struct serving *serving, const struct al_config *config,
                       struct al_tokens *ret_tokens, struct al_error *err)
{
    const struct al_setup *setup = serving->setup;
    al_auto(al_freep) char *path = NULL;
    int r;

    if (setup->config.serve.no_token)
        return 0;
    if (serving->made.count) {
        *ret_tokens =
            (struct al_tokens){ .items = al_calloc(1, sizeof(*ret_tokens->items)), .count = 1 };
        memcpy(ret_tokens->items[0].digest, serving->made.items[0].digest, AL_TOKEN_DIGEST_SIZE);
        return 0;
    }
    path = al_environment_absolute(config->serve.token_file);
    r = al_roots_exclude(al_roots_parts(&setup->roots), path, "token file", err);
    return r == 0 ? al_tokens_read(path, &config->grants, ret_tokens, err) : r;
}

static const struct al_token *token_at(const struct reading *reading, size_t i)
{
    return reading->tokens.count ? &reading->tokens.items[i] : NULL;
}

/* The entry that the token of another reading has in this one; NULL: none with the same rights. */
static const struct entry *find_same(const struct reading *reading, const struct al_token *token,
                                     const char *rights)
{
    for (size_t i = 0; reading && i < reading->count; i++) {
        const struct al_token *own = token_at(reading, i);
        bool is_same =
            own && token ? !memcmp(own->digest, token->digest, sizeof(own->digest)) : own == token;

        if (is_same)
            return strcmp(reading->entries[i].rights, rights) ? NULL : &reading->entries[i];
    }
    return NULL;
}

static int fill_entry(const struct serving *serving, struct reading *reading, size_t i,
                      struct al_error *err)
{
    const struct al_setup *setup = serving->setup;
    const struct al_token *token = token_at(reading, i);
    al_auto(al_str_clear) struct al_str rights = AL_STR_INIT;
    const struct entry *same;
    int r = rights_describe(setup, &reading->config, token, &rights, err);

    if (r < 0)
        return r;
    same = find_same(serving->now, token, rights.buf);
    if (same)
        reading->entries[i].account = al_account_ref(same->account);
    else
        r = make_account(serving, &reading->config, token, &reading->entries[i].account, err);
    reading->entries[i].rights = al_str_detach(&rights);
    return r;
}

static bool uses_grant(const struct reading *reading, const char *name)
{
    for (size_t i = 0; i < reading->count; i++) {
        const char *chosen = grant_name(&reading->config, token_at(reading, i));

        if (chosen && !strcmp(chosen, name))
            return true;
    }
    return false;
}

/* Arguments that are no error, and yet are hardly meant. */
static void warn(const struct serving *serving, const struct reading *reading)
{
    const struct al_grants *grants = &reading->config.grants;

    for (size_t i = 0; i < grants->count; i++)
        if (uses_grant(reading, grants->items[i].name))
            al_warn_of_grant(serving->setup, &grants->items[i]);
    if (al_serve_lacks_hosts(&reading->config))
        al_log_warn("clients have to call this server localhost or by a loopback address, and get "
                    "403 for every other Host; list the names that they use in [serve] hosts");
}

static int read_all(const struct serving *serving, struct reading **ret_reading,
                    struct al_error *err)
{
    struct reading *reading = al_calloc(1, sizeof(*reading));
    int r;

    al_config_init(&reading->config);
    r = read_config(serving, &reading->config, err);
    if (r == 0)
        r = read_tokens(serving, &reading->config, &reading->tokens, err);
    if (r == 0) {
        reading->count = reading->tokens.count ? reading->tokens.count : 1;
        reading->entries = al_calloc(reading->count, sizeof(*reading->entries));
    }
    for (size_t i = 0; r == 0 && i < reading->count; i++)
        r = fill_entry(serving, reading, i, err);
    if (r < 0) {
        (void)drop_tokens(reading, serving->now);
        free_reading(reading);
        return r;
    }
    warn(serving, reading);
    reading->older = serving->now;
    *ret_reading = reading;
    return 0;
}

static int read_first(struct serving *serving, struct al_str *ret_made, struct al_error *err)
{
    const struct al_config *config = &serving->setup->config;
    int r;

    if (!config->serve.token_file && !config->serve.no_token)
        al_tokens_make(&serving->made, ret_made);
    r = read_all(serving, &serving->now, err);
    if (r == 0)
        serving->begun = &serving->now->config;
    return r;
}

/* After the endpoint was freed, which has ended all accounts. */
static void free_readings(struct serving *serving)
{
    if (serving->now)
        (void)drop_tokens(serving->now, serving->now);
    for (struct reading *reading = serving->now, *older; reading; reading = older) {
        older = reading->older;
        free_reading(reading);
    }
    al_tokens_clear(&serving->made);
}

/* The newest configuration, which stays until the end. */
static const struct al_config *config_of(struct serving *serving)
{
    al_hold(&serving->lock);
    return &serving->now->config;
}

/* --- Requests --- */

static struct al_http_place place_of(const struct serving *serving, size_t listener)
{
    const struct al_config *config = &serving->setup->config;
    const struct al_http_address *address = al_http_server_address(serving->server, listener);
    const bool is_unix = address->family == AF_UNIX;

    return (struct al_http_place){
        .address = is_unix ? NULL : address->host,
        .port = address->port,
        .tls = config->serve.tls_cert && !is_unix,
        .behind_proxy = config->serve.behind_proxy,
    };
}

/* Answer with a line of text; `header` may be NULL. */
static void answer(struct al_http_exchange *exchange, unsigned status, const char *name,
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

    al_http_answer(exchange, 204, headers, AL_COUNT(headers), "", 0);
}

/* --- Who --- */

/* The account of the request's token, or where none is needed that of everybody: a reference; NULL:
 * there is no such token. */
static struct al_account *find_account(struct serving *serving,
                                       const struct al_http_request *request)
{
    const bool is_open = serving->setup->config.serve.no_token;
    const struct al_token *found = NULL;
    const struct reading *now;
    const char *token = NULL;
    size_t len = 0;

    (void)al_http_bearer(al_http_find_header(request, "authorization"), &token, &len);
    al_hold(&serving->lock);
    now = serving->now;
    if (token && !is_open)
        found = al_tokens_find(&now->tokens, token, len);
    if (!found && !is_open)
        return NULL;
    return al_account_ref(now->entries[found ? found - now->tokens.items : 0].account);
}

/* A request without a token is no guess.  The connection counts as nobody's, whoever had it. */
static void refuse_token(struct serving *serving, struct al_http_exchange *exchange,
                         const struct al_http_request *request)
{
    bool shown = al_http_find_header(request, "authorization") != NULL;

    (void)al_http_set_key(exchange, 0);
    if (shown)
        al_http_delay(exchange, al_throttle_wrong(serving->throttle, request->peer, al_clock_ms()));
    answer(exchange, 401, "WWW-Authenticate", "Bearer",
           shown ? "Authorization has no token of this server; it has to be: Bearer TOKEN\n"
                 : "a token is needed: Authorization: Bearer TOKEN\n");
}

static void check_mcp(struct serving *serving, struct al_http_exchange *exchange,
                      const struct al_http_request *request)
{
    struct al_account *account = find_account(serving, request);
    const bool counts = !serving->setup->config.serve.no_token;

    if (!account)
        refuse_token(serving, exchange, request);
    else if (!al_http_set_key(exchange, counts ? al_account_number(account) : 0))
        answer(exchange, 429, "Retry-After", "1", "too many connections of this token\n");
    else if (request->query)
        answer(exchange, 400, NULL, NULL, "/mcp takes no query\n");
    al_account_unref(account);
}

/* --- From where, and what --- */

/* The Origin of a request.  A page without a referrer sends `null`, which only the review's own
 * forms may: they have other proofs. */
static const char *find_origin(const struct al_http_request *request)
{
    const char *origin = al_http_find_header(request, "origin");

    return origin && !strcmp(origin, "null") && al_site_owns(request) ? NULL : origin;
}

static bool check_place(struct serving *serving, struct al_http_exchange *exchange,
                        const struct al_http_request *request)
{
    const struct al_http_place place = place_of(serving, request->listener);
    const struct al_config *config = config_of(serving);

    if (!al_http_accepts_host(&place, &config->serve.hosts, al_http_find_header(request, "host")))
        answer(exchange, 403, NULL, NULL,
               "this Host is not served; add it to [serve] hosts of the server's configuration\n");
    else if (!al_http_accepts_origin(&place, &config->serve.origins, find_origin(request)))
        answer(
            exchange, 403, NULL, NULL,
            "this Origin is not served; add it to [serve] origins of the server's configuration\n");
    else
        return true;
    return false;
}

static void answer_health(struct al_http_exchange *exchange, const struct al_http_request *request)
{
    if (!strcmp(request->method, "GET") || !strcmp(request->method, "HEAD"))
        answer(exchange, 200, NULL, NULL, "ok");
    else
        answer(exchange, 405, "Allow", "GET, HEAD", "GET only\n");
}

static void on_headers(void *payload, struct al_http_exchange *exchange,
                       const struct al_http_request *request)
{
    struct serving *serving = payload;
    const char *origin = al_http_find_header(request, "origin");
    bool is_configured;

    if (!check_place(serving, exchange, request))
        return;
    if (al_site_owns(request)) {
        al_site_on_headers(serving->site, exchange, request);
        return;
    }
    is_configured = al_http_is_configured_origin(&config_of(serving)->serve.origins, origin);
    if (is_configured)
        allow_origin(exchange, origin);
    if (!strcmp(request->path, "/health"))
        answer_health(exchange, request);
    else if (strcmp(request->path, "/mcp") != 0)
        answer(exchange, 404, NULL, NULL, "MCP is served at /mcp\n");
    else if (is_configured && !strcmp(request->method, "OPTIONS"))
        answer_preflight(exchange);
    else
        check_mcp(serving, exchange, request);
}

/* --- The endpoint --- */

/* The token is looked up again: it may have been removed while the body arrived. */
static void on_request(void *payload, struct al_http_exchange *exchange,
                       const struct al_http_request *request)
{
    struct serving *serving = payload;
    struct al_account *account;

    if (al_site_owns(request)) {
        al_site_on_request(serving->site, exchange, request);
        return;
    }
    account = find_account(serving, request);
    if (account)
        al_endpoint_request(serving->endpoint, account, exchange);
    else
        refuse_token(serving, exchange, request);
    al_account_unref(account);
}

/* The endpoint sets the data of the exchanges that it got. */
static void on_gone(void *payload, struct al_http_exchange *exchange)
{
    struct serving *serving = payload;

    if (al_http_data(exchange))
        al_endpoint_gone(serving->endpoint, exchange);
}

static void on_end(void *payload, struct al_http_exchange *exchange)
{
    struct serving *serving = payload;

    if (al_http_data(exchange))
        al_endpoint_end(serving->endpoint, exchange);
}

static const struct al_http_handler handler = {
    .on_headers = on_headers,
    .on_request = on_request,
    .on_gone = on_gone,
    .on_end = on_end,
};

/* After the last call has ended, a client has this long to take its answer. */
#define LAST_ANSWERS_MS 2000

/* Bytes of events that are kept for a token, in bodies of the largest size. */
#define EVENTS_PER_TOKEN 4

/* Bodies of the largest size that wait to be served, or are, of one token. */
#define BODIES_PER_TOKEN 8

/* The parsed arguments of calls in flight of one token, in bodies of the largest size. */
#define ARGUMENTS_PER_TOKEN 8

static int make_endpoint(struct serving *serving, struct al_error *err)
{
    const struct al_serve_limits *limits = &serving->setup->config.serve.limits;

    return al_endpoint_new(
        &(struct al_endpoint_options){
            .version = AIRLOCK_VERSION,
            .mounts = serving->setup->session.mounts,
            .calls = limits->calls,
            .calls_per_token = limits->calls_per_token,
            .sessions_per_token = limits->sessions_per_token,
            .connections_per_token = serving->setup->config.serve.no_token
                                         ? limits->connections
                                         : limits->connections_per_token,
            .event_bytes_per_token = EVENTS_PER_TOKEN * (size_t)limits->max_body,
            .body_bytes_per_token = BODIES_PER_TOKEN * (size_t)limits->max_body,
            .argument_bytes_per_token = ARGUMENTS_PER_TOKEN * (size_t)limits->max_body,
            .idle_s = (int)limits->idle_s,
            .drain_s = (int)limits->drain_s,
        },
        &serving->endpoint, err);
}

static int exclude(const struct al_roots *roots, const char *given, const char *what,
                   struct al_error *err)
{
    al_auto(al_freep) char *path = al_environment_absolute(given);

    return al_roots_exclude(roots, path, what, err);
}

static int make_server(struct serving *serving, struct al_error *err)
{
    const struct al_config *config = &serving->setup->config;
    const struct al_serve_limits *limits = &config->serve.limits;
    const struct al_roots *roots = al_roots_parts(&serving->setup->roots);
    al_auto(al_freep) struct al_http_listener *listeners =
        al_calloc(config->serve.http.count, sizeof(*listeners));
    int r = 0;

    for (size_t i = 0; r == 0 && i < config->serve.http.count; i++) {
        r = al_http_address_parse(config->serve.http.items[i], &listeners[i].address, err);
        listeners[i].tls = config->serve.tls_cert && listeners[i].address.family != AF_UNIX;
        if (r == 0 && listeners[i].address.family == AF_UNIX)
            r = exclude(roots, listeners[i].address.host, "socket", err);
    }
    if (r < 0)
        return r;
    return al_http_server_new(
        &(struct al_http_options){
            .listeners = listeners,
            .listener_count = config->serve.http.count,
            .tls = { .cert_path = config->serve.tls_cert, .key_path = config->serve.tls_key },
            .limits = { .body_bytes = limits->max_body,
                        .header_bytes = limits->max_headers,
                        .connections = limits->connections,
                        .connections_of_key = limits->connections_per_token,
                        .request_ms = (int64_t)limits->request_s * 1000,
                        .stall_s = limits->stall_s },
            .handler = &handler,
            .payload = serving,
        },
        &serving->server, err);
}

/* --- What is said at the start --- */

static char *name_place(const struct serving *serving, size_t i)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *safe = NULL;

    al_http_address_print(al_http_server_address(serving->server, i), &text);
    safe = al_text_sanitize_line(text.buf);
    if (!place_of(serving, i).address)
        return al_take(&safe);
    return al_asprintf("http%s://%s/mcp", place_of(serving, i).tls ? "s" : "", safe);
}

static void tell_places(const struct serving *serving)
{
    for (size_t i = 0; i < serving->setup->config.serve.http.count; i++) {
        al_auto(al_freep) char *place = name_place(serving, i);

        al_log_note("serving MCP at %s%s", place,
                    place_of(serving, i).address ? "" : " (path /mcp)");
    }
    if (serving->setup->config.serve.no_token)
        al_log_warn("--no-token: every program that reaches this server may use it");
}

/* The only time that a token is written anywhere. */
static void tell_token(const struct serving *serving, const struct al_str *token)
{
    al_auto(al_freep) char *place = name_place(serving, 0);
    char *text =
        al_asprintf("airlock: a token was made, and is shown only here; --token-file names lasting "
                    "ones\n"
                    "{\"mcpServers\": {\"airlock\": {\"type\": \"http\", \"url\": \"%s\",\n"
                    "  \"headers\": {\"Authorization\": \"Bearer %s\"}}}}\n",
                    place_of(serving, 0).address ? place : "http://localhost/mcp", token->buf);

    (void)al_write_all(STDERR_FILENO, text, strlen(text));
    explicit_bzero(text, strlen(text));
    free(text);
}

/* --- The review page --- */

/* A link to the first place that has an address; a Unix socket has none. */
static char *make_link(void *payload)
{
    const struct serving *serving = payload;
    const struct al_config *config = &serving->setup->config;

    for (size_t i = 0; i < config->serve.http.count; i++) {
        const struct al_http_place place = place_of(serving, i);
        al_auto(al_freep) char *origin = al_web_origin(&place, &config->serve.hosts);

        if (origin)
            return al_site_link(serving->site, origin);
    }
    return NULL;
}

/* --- From start to end --- */

/* Descriptors of one call: the pipes of its git, and files of the repository. */
#define CALL_FILES  16u
#define OTHER_FILES 512u

/* The usual limit is too low for the connections and calls that are allowed, and clients would wait
 * in the kernel's queue. */
static void raise_file_limit(const struct al_serve_limits *limits)
{
    const rlim_t wanted = limits->connections + (rlim_t)limits->calls * CALL_FILES + OTHER_FILES;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int check_files(const struct al_setup *setup, struct al_error *err)
{
    const struct al_staging_settings *settings = setup->session.staging_settings;

    if (settings && settings->npulls)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "auto_pull of a worker file is for one agent, and --http serves many; "
                            "leave it out");
    return setup->config.serve.tls_key
               ? exclude(al_roots_parts(&setup->roots), setup->config.serve.tls_key, "TLS key", err)
               : 0;
}

static int start(struct serving *serving, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str made = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv dirs = AL_STRV_INIT;
    int r = check_files(serving->setup, err);

    if (r == 0)
        r = make_endpoint(serving, err);
    if (r == 0)
        r = read_first(serving, &made, err);
    al_setup_review_dirs(serving->setup, &dirs);
    if (r == 0)
        r = al_site_new(serving->setup, &dirs, false, &serving->site, err);
    if (r == 0) {
        serving->throttle = al_throttle_new();
        r = make_server(serving, err);
    }
    if (r == 0)
        r = al_http_server_start(serving->server, err);
    if (r == 0) {
        if (serving->setup->review_server)
            al_review_server_set_link(serving->setup->review_server, make_link, serving);
        if (made.len)
            tell_token(serving, &made);
        tell_places(serving);
    }
    explicit_bzero(made.buf, made.len);
    return r;
}

/* `count` is that of the tokens; 0: none is needed. */
static char *tell_ended(size_t count, size_t revoked)
{
    if (!revoked)
        return al_strdup("all sessions go on");
    if (!count)
        return al_strdup("the rules are other ones, so all sessions ended");
    return al_asprintf("%zu token%s gone or %s other rights, so %s sessions ended", revoked,
                       revoked == 1 ? " is" : "s are", revoked == 1 ? "has" : "have",
                       revoked == 1 ? "its" : "their");
}

/* The keys that tokens of a new reading get.  Grants and rules are not among the changed keys. */
static bool is_read_again(const char *key)
{
    static const char *const keys[] = {
        "serve.agent",   "serve.grant",         "serve.token_file",     "serve.hosts",
        "serve.origins", "tools.approval.mode", "tools.git.timeout_ms", "tools.git.max_bytes",
    };

    for (size_t i = 0; i < AL_COUNT(keys); i++)
        if (!strcmp(keys[i], key))
            return true;
    return false;
}

/* Name the keys that differ in two readings and that a server reads at its start only. */
static void warn_of_restart(const struct al_config *begun, const struct al_config *config)
{
    al_auto(al_strv_clear) struct al_strv changed = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    size_t count = 0;

    al_keys_changed(begun, config, &changed);
    for (size_t i = 0; i < changed.count; i++) {
        if (is_read_again(changed.items[i]))
            continue;
        al_str_addf(&names, "%s%s", count ? ", " : "", changed.items[i]);
        count++;
    }
    if (count)
        al_log_warn("%s differ%s from what this server began with; restart it for that", names.buf,
                    count == 1 ? "s" : "");
}

static void reload(struct serving *serving)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *ended = NULL;
    struct reading *fresh = NULL, *old = serving->now;
    size_t count;

    if (read_all(serving, &fresh, &err) < 0) {
        al_log_warn("nothing was changed: %s", err.message);
        return;
    }
    warn_of_restart(serving->begun, &fresh->config);
    (void)pthread_mutex_lock(&serving->lock);
    serving->now = fresh;
    (void)pthread_mutex_unlock(&serving->lock);
    count = fresh->tokens.count;
    ended = tell_ended(count, drop_tokens(old, fresh));
    if (count)
        al_log_note("the configuration and the tokens were read again: %zu token%s; %s", count,
                    count == 1 ? "" : "s", ended);
    else
        al_log_note("the configuration was read again; %s", ended);
}

static void tell_waiting(const struct serving *serving)
{
    const unsigned drain_s = serving->setup->config.serve.limits.drain_s;
    const size_t count = al_endpoint_count_calls(serving->endpoint);

    if (count && drain_s)
        al_log_note("ending: waiting for %zu call%s, at most %u s; a second signal ends at once",
                    count, count == 1 ? "" : "s", drain_s);
}

/* Calls in flight go on for a while, and their answers are taken. */
static void finish(struct serving *serving)
{
    al_site_stop(serving->site);
    if (serving->endpoint) {
        tell_waiting(serving);
        al_endpoint_drain(serving->endpoint);
    }
    if (serving->server)
        (void)al_http_server_drain(serving->server, LAST_ANSWERS_MS);
    al_http_server_free(serving->server);
    free(serving->throttle);
    al_site_free(serving->site);
    al_endpoint_free(serving->endpoint);
    free_readings(serving);
    (void)pthread_mutex_destroy(&serving->lock);
}

int al_serve_http(struct al_setup *setup, const struct al_options *options)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct serving serving = { .setup = setup, .options = options };
    int r;

    (void)pthread_mutex_init(&serving.lock, NULL);
    raise_file_limit(&setup->config.serve.limits);
    al_setup_review(setup);
    al_setup_review_listen(setup);
    al_signals_block(setup);
    if (setup->session.journal)
        al_journal_sync_later(setup->session.journal);
    r = start(&serving, &err);
    if (r == 0) {
        while (al_signals_wait() == SIGHUP)
            reload(&serving);
        if (setup->review_server) /* before another thread serves it: see al_signals_handle_end() */
            al_review_server_set_link(setup->review_server, NULL, NULL);
        al_signals_handle_end(setup);
    }
    finish(&serving);
    return r < 0 ? al_cli_fail(&err) : AL_EXIT_OK;
}
