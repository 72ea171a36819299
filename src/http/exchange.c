// SPDX-License-Identifier: Apache-2.0
#include "http/exchange.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/loop.h"
#include "util/clock.h"
#include "util/utf8.h"

/* Headers whose value is a list, so that several lines mean the same as one (RFC 9110 5.3), and
 * Cookie, which HTTP/2 gateways split.  Those that begin with X- or Sec- are not looked at here. */
static const char *const lists[] = {
    "accept",          "accept-charset",
    "accept-encoding", "accept-language",
    "baggage",         "cache-control",
    "connection",      "cookie",
    "forwarded",       "if-match",
    "if-none-match",   "keep-alive",
    "pragma",          "prefer",
    "priority",        "te",
    "tracestate",      "via",
    "warning",
};

/* Headers that prove who asks. */
static const char *const secrets[] = { "authorization", "cookie", "proxy-authorization" };

static char **find(const struct al_http_fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->names.count; i++)
        if (strcasecmp(fields->names.items[i], name) == 0)
            return &fields->values.items[i];
    return NULL;
}

void al_http_fields_wipe(struct al_http_fields *fields, const char *name)
{
    char **value = find(fields, name);

    if (value)
        explicit_bzero(*value, strlen(*value));
}

void al_http_fields_clear(struct al_http_fields *fields)
{
    for (size_t i = 0; i < AL_COUNT(secrets); i++)
        al_http_fields_wipe(fields, secrets[i]);
    al_strv_clear(&fields->names);
    al_strv_clear(&fields->values);
}

static bool is_list(const char *name)
{
    if (strncasecmp(name, "x-", 2) == 0 || strncasecmp(name, "sec-", 4) == 0)
        return true;
    for (size_t i = 0; i < AL_COUNT(lists); i++)
        if (strcasecmp(name, lists[i]) == 0)
            return true;
    return false;
}

const char *al_http_fields_find(const struct al_http_fields *fields, const char *name)
{
    char **value = find(fields, name);

    return value ? *value : NULL;
}

bool al_http_is_token(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c))
            return false;
    }
    return len > 0;
}

static bool is_value(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return al_utf8_valid(text, len);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

const char *al_http_fields_add(struct al_http_fields *fields, const char *name, size_t name_len,
                               const char *value, size_t value_len)
{
    al_auto(al_freep) char *key = NULL;
    al_auto(al_freep) char *text = NULL;
    char **before;

    if (!al_http_is_token(name, name_len))
        return "the name of a header is no token";
    while (value_len && is_space(value[value_len - 1]))
        value_len--;
    while (value_len && is_space(*value)) {
        value++;
        value_len--;
    }
    if (!is_value(value, value_len))
        return "a header has control characters or is not UTF-8";
    key = al_strndup(name, name_len);
    text = al_strndup(value, value_len);
    before = find(fields, key);
    if (before && !is_list(key)) {
        explicit_bzero(text, strlen(text));
        return "a header with a single value is there twice";
    }
    if (before) {
        char *joined = al_asprintf("%s, %s", *before, text);

        explicit_bzero(*before, strlen(*before));
        explicit_bzero(text, strlen(text));
        free(*before);
        *before = joined;
        return NULL;
    }
    al_strv_take(&fields->names, al_take(&key));
    al_strv_take(&fields->values, al_take(&text));
    return NULL;
}

/* 0; -1: no number; 1: above the limit. */
static int check_length(const char *text, size_t max_bytes, bool *ret_empty)
{
    uint64_t value = 0;

    if (!*text || strspn(text, "0123456789") != strlen(text))
        return -1;
    for (; *text; text++) {
        if (value > (UINT64_MAX - 9) / 10)
            return 1;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    *ret_empty = value == 0;
    return value > max_bytes;
}

struct al_http_framing al_http_fields_framing(const struct al_http_fields *fields,
                                              size_t max_body_bytes)
{
    const char *length = al_http_fields_find(fields, "content-length");
    const char *coding = al_http_fields_find(fields, "transfer-encoding");
    const char *upgrade = al_http_fields_find(fields, "upgrade");
    struct al_http_framing framing = { .has_body = length || coding, .chunked = coding };
    bool empty = false;
    int r = length ? check_length(length, max_body_bytes, &empty) : 0;

    if (length && coding)
        framing.bad = "Content-Length and Transfer-Encoding exclude each other";
    else if (r < 0)
        framing.bad = "Content-Length is no number";
    else if (coding && strcasecmp(coding, "chunked") != 0)
        framing.bad = "the only Transfer-Encoding is chunked";
    /* Clients offer h2c with each first request; a server may ignore it (RFC 9110 7.8). */
    else if (upgrade && strcasecmp(upgrade, "h2c") != 0)
        framing.bad = "this server changes to no other protocol";
    framing.too_large = r > 0;
    framing.has_body = framing.has_body && !empty;
    return framing;
}

const char *al_http_check_target(const char *target)
{
    size_t path_len = strcspn(target, "?");

    if (*target != '/')
        return "the target is no path that begins with '/'";
    if (memchr(target, '%', path_len))
        return "the path has percent-encoded bytes";
    for (; *target; target++)
        if (*target <= ' ' || *target >= 0x7f || *target == '#')
            return "the target is not plain ASCII";
    return NULL;
}

bool al_http_bearer(const char *value, const char **ret_token, size_t *ret_len)
{
    static const char scheme[] = "Bearer ";
    const char *token;
    size_t len = 0;

    if (!value || strncasecmp(value, scheme, sizeof(scheme) - 1) != 0)
        return false;
    token = value + sizeof(scheme) - 1;
    token += strspn(token, " ");
    while (token[len] > 0x20 && token[len] < 0x7f)
        len++;
    if (!len || token[len])
        return false;
    *ret_token = token;
    *ret_len = len;
    return true;
}

struct al_http_exchange *al_http_exchange_new(struct al_http_server *server)
{
    struct al_http_exchange *exchange = al_calloc(1, sizeof(*exchange));

    atomic_init(&exchange->refs, 1);
    exchange->server = al_http_server_ref(server);
    exchange->fields = AL_HTTP_FIELDS_INIT;
    exchange->body = exchange->out = AL_STR_INIT;
    exchange->request.fields = &exchange->fields;
    exchange->request.body = exchange->body.buf;
    return exchange;
}

struct al_http_exchange *al_http_ref(struct al_http_exchange *exchange)
{
    atomic_fetch_add(&exchange->refs, 1);
    return exchange;
}

void al_http_unref(struct al_http_exchange *exchange)
{
    if (!exchange || atomic_fetch_sub(&exchange->refs, 1) != 1)
        return;
    al_http_fields_clear(&exchange->fields);
    free(exchange->method);
    free(exchange->target);
    free(exchange->peer);
    al_str_clear(&exchange->body);
    al_strv_clear(&exchange->names);
    al_strv_clear(&exchange->values);
    al_str_clear(&exchange->out);
    al_http_server_unref(exchange->server);
    free(exchange);
}

const struct al_http_request *al_http_request(const struct al_http_exchange *exchange)
{
    return &exchange->request;
}

void al_http_drop_body(struct al_http_exchange *exchange)
{
    al_str_clear(&exchange->body);
    exchange->request.body = exchange->body.buf;
    exchange->request.body_len = 0;
}

const char *al_http_find_header(const struct al_http_request *request, const char *name)
{
    return al_http_fields_find(request->fields, name);
}

void al_http_set_data(struct al_http_exchange *exchange, void *data)
{
    exchange->data = data;
}

void *al_http_data(const struct al_http_exchange *exchange)
{
    return exchange->data;
}

void al_http_delay(struct al_http_exchange *exchange, int64_t delay_ms)
{
    pthread_mutex_lock(&exchange->server->lock);
    exchange->not_before_ms = al_clock_ms() + delay_ms;
    pthread_mutex_unlock(&exchange->server->lock);
}

/* The caller has the lock. */
static bool begin(struct al_http_exchange *exchange, unsigned status,
                  const struct al_http_header *headers, size_t header_count)
{
    if (exchange->answered || exchange->over)
        return false;
    exchange->answered = true;
    exchange->status = status;
    for (size_t i = 0; i < header_count; i++) {
        al_strv_add(&exchange->names, headers[i].name);
        al_strv_add(&exchange->values, headers[i].value);
    }
    return true;
}

void al_http_add_header(struct al_http_exchange *exchange, const char *name, const char *value)
{
    pthread_mutex_lock(&exchange->server->lock);
    if (!exchange->answered) {
        al_strv_add(&exchange->names, name);
        al_strv_add(&exchange->values, value);
    }
    pthread_mutex_unlock(&exchange->server->lock);
}

void al_http_answer(struct al_http_exchange *exchange, unsigned status,
                    const struct al_http_header *headers, size_t header_count, const char *body,
                    size_t body_len)
{
    pthread_mutex_lock(&exchange->server->lock);
    if (begin(exchange, status, headers, header_count)) {
        if (body_len)
            al_str_add(&exchange->out, body, body_len);
        exchange->ended = true;
        al_http_server_ready(exchange);
    }
    pthread_mutex_unlock(&exchange->server->lock);
}

void al_http_begin_stream(struct al_http_exchange *exchange, unsigned status,
                          const struct al_http_header *headers, size_t header_count)
{
    pthread_mutex_lock(&exchange->server->lock);
    if (begin(exchange, status, headers, header_count)) {
        exchange->stream = true;
        al_http_server_ready(exchange);
    }
    pthread_mutex_unlock(&exchange->server->lock);
}

bool al_http_send(struct al_http_exchange *exchange, const char *bytes, size_t len)
{
    size_t limit = exchange->server->limits.stream_bytes;
    bool taken;

    pthread_mutex_lock(&exchange->server->lock);
    taken = exchange->stream && !exchange->ended && !exchange->over && !exchange->aborted &&
            exchange->out.len - exchange->out_sent <= limit;
    if (taken) {
        al_str_add(&exchange->out, bytes, len);
        al_http_server_ready(exchange);
    }
    pthread_mutex_unlock(&exchange->server->lock);
    return taken;
}

void al_http_keep_alive(struct al_http_exchange *exchange, const char *text)
{
    pthread_mutex_lock(&exchange->server->lock);
    exchange->keep_alive = text;
    pthread_mutex_unlock(&exchange->server->lock);
}

const char *al_http_exchange_keep_alive(struct al_http_exchange *exchange)
{
    const char *text;

    pthread_mutex_lock(&exchange->server->lock);
    text = exchange->stream && !exchange->ended ? exchange->keep_alive : NULL;
    pthread_mutex_unlock(&exchange->server->lock);
    return text;
}

void al_http_end_stream(struct al_http_exchange *exchange)
{
    pthread_mutex_lock(&exchange->server->lock);
    if (exchange->stream && !exchange->ended) {
        exchange->ended = true;
        al_http_server_ready(exchange);
    }
    pthread_mutex_unlock(&exchange->server->lock);
}

void al_http_abort(struct al_http_exchange *exchange)
{
    pthread_mutex_lock(&exchange->server->lock);
    if (!exchange->over) {
        exchange->aborted = true;
        al_http_server_ready(exchange);
    }
    pthread_mutex_unlock(&exchange->server->lock);
}

int64_t al_http_exchange_due_ms(struct al_http_exchange *exchange)
{
    int64_t due_ms;

    pthread_mutex_lock(&exchange->server->lock);
    due_ms = exchange->answered ? exchange->not_before_ms : INT64_MAX;
    pthread_mutex_unlock(&exchange->server->lock);
    return due_ms;
}

bool al_http_exchange_wants_client(struct al_http_exchange *exchange)
{
    bool wants;

    pthread_mutex_lock(&exchange->server->lock);
    wants = !exchange->answered || (exchange->stream && !exchange->ended);
    pthread_mutex_unlock(&exchange->server->lock);
    return wants;
}

/* The caller has the lock.  Sent bytes leave the buffer when they are half of it, so that moving
 * the others costs no more than sending them did. */
static size_t take_some(struct al_http_exchange *exchange, char *ret_bytes, size_t max)
{
    struct al_str *out = &exchange->out;
    size_t len = out->len - exchange->out_sent;

    if (len > max)
        len = max;
    memcpy(ret_bytes, out->buf + exchange->out_sent, len);
    exchange->out_sent += len;
    if (exchange->stream && exchange->out_sent == out->len) {
        al_str_clear(out);
        exchange->out_sent = 0;
    } else if (exchange->stream && exchange->out_sent > out->len / 2) {
        memmove(out->buf, out->buf + exchange->out_sent, out->len - exchange->out_sent);
        al_str_truncate(out, out->len - exchange->out_sent);
        exchange->out_sent = 0;
    }
    return len;
}

int64_t al_http_exchange_take(struct al_http_exchange *exchange, char *ret_bytes, size_t max)
{
    int64_t r = 0;

    pthread_mutex_lock(&exchange->server->lock);
    if (exchange->aborted)
        r = -2;
    else if (exchange->out_sent < exchange->out.len)
        r = (int64_t)take_some(exchange, ret_bytes, max);
    else if (exchange->ended)
        r = -1;
    pthread_mutex_unlock(&exchange->server->lock);
    return r;
}

void al_http_exchange_over(struct al_http_exchange *exchange)
{
    pthread_mutex_lock(&exchange->server->lock);
    exchange->over = true;
    al_str_clear(&exchange->out);
    exchange->out_sent = 0;
    pthread_mutex_unlock(&exchange->server->lock);
}
