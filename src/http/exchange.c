// SPDX-License-Identifier: Apache-2.0
#include "http/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "http/loop.h"
#include "util/clock.h"

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
