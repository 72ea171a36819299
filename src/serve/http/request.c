// SPDX-License-Identifier: Apache-2.0
/* A request and its response: what the library calls, from the first line on, and what the handler
 * answers. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/utf8.h"
#include "serve/http/private.h"

/* --- Headers, read as strictly as any server reads them --- */

/* More headers than this are refused with 431. */
#define FIELDS_MAX 100u

/* The headers say this about the body. */
struct framing {
    bool has_body; /* a body follows, perhaps an empty one */
    bool chunked;
    bool too_large;  /* Content-Length is above the limit */
    const char *bad; /* the request is refused with 400: why; else NULL */
};

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

/* The value is "" from here on.  Threads: others may look for other headers. */
static void wipe_field(struct al_http_fields *fields, const char *name)
{
    char **value = find(fields, name);

    if (value)
        explicit_bzero(*value, strlen(*value));
}

/* Values that prove who asks (Authorization, Cookie) are wiped. */
static void clear_fields(struct al_http_fields *fields)
{
    for (size_t i = 0; i < AL_COUNT(secrets); i++)
        wipe_field(fields, secrets[i]);
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

static const char *find_value(const struct al_http_fields *fields, const char *name)
{
    char **value = find(fields, name);

    return value ? *value : NULL;
}

const char *al_http_find_header(const struct al_http_request *request, const char *name)
{
    return find_value(request->fields, name);
}

/* Whether all bytes are those of a token (RFC 9110), as in methods and names. */
static bool is_token(const char *text, size_t len)
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

/* Add a header line.  NULL, or why it is refused, as a short phrase. */
static const char *add_field(struct al_http_fields *fields, const char *name, size_t name_len,
                             const char *value, size_t value_len)
{
    al_auto(al_freep) char *key = NULL;
    al_auto(al_freep) char *text = NULL;
    char **before;

    if (!is_token(name, name_len))
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

/* Read Content-Length, Transfer-Encoding and Upgrade as strictly as any server does. */
static struct framing framing_of(const struct al_http_fields *fields, size_t max_body_bytes)
{
    const char *length = find_value(fields, "content-length");
    const char *coding = find_value(fields, "transfer-encoding");
    const char *upgrade = find_value(fields, "upgrade");
    struct framing framing = { .has_body = length || coding, .chunked = coding };
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

/* Test the target of a request: NULL, or why it is refused. */
static const char *check_target(const char *target)
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

/* --- Exchanges --- */

/* A body up to this size is written together with the headers.  A larger one is written in blocks
 * of this size, so that a client that takes some of it is seen to. */
#define BLOCK_BYTES ((size_t)64 * 1024)

static struct al_http_exchange *exchange_new(struct al_http_server *server)
{
    struct al_http_exchange *exchange = al_calloc(1, sizeof(*exchange));

    atomic_init(&exchange->refs, 1);
    exchange->server = al_http_server_ref(server);
    exchange->fields = exchange->headers = AL_HTTP_FIELDS_INIT;
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
    clear_fields(&exchange->fields);
    free((char *)exchange->request.method);
    free(exchange->target);
    free((char *)exchange->request.peer);
    al_str_clear(&exchange->body);
    clear_fields(&exchange->headers);
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
    al_hold(&exchange->server->lock);
    exchange->not_before_ms = al_clock_ms() + delay_ms;
}

static void add_header(struct al_http_exchange *exchange, const char *name, const char *value)
{
    al_strv_add(&exchange->headers.names, name);
    al_strv_add(&exchange->headers.values, value);
}

/* The caller has the lock. */
static bool begin_answer(struct al_http_exchange *exchange, unsigned status,
                         const struct al_http_header *headers, size_t header_count)
{
    if (exchange->answered || exchange->over)
        return false;
    exchange->answered = true;
    exchange->status = status;
    for (size_t i = 0; i < header_count; i++)
        add_header(exchange, headers[i].name, headers[i].value);
    return true;
}

void al_http_add_header(struct al_http_exchange *exchange, const char *name, const char *value)
{
    al_hold(&exchange->server->lock);
    if (!exchange->answered)
        add_header(exchange, name, value);
}

void al_http_answer(struct al_http_exchange *exchange, unsigned status,
                    const struct al_http_header *headers, size_t header_count, const char *body,
                    size_t body_len)
{
    al_hold(&exchange->server->lock);
    if (begin_answer(exchange, status, headers, header_count)) {
        if (body_len)
            al_str_add(&exchange->out, body, body_len);
        exchange->ended = true;
        al_http_server_wake(exchange->server);
    }
}

void al_http_begin_stream(struct al_http_exchange *exchange, unsigned status,
                          const struct al_http_header *headers, size_t header_count)
{
    al_hold(&exchange->server->lock);
    if (begin_answer(exchange, status, headers, header_count)) {
        exchange->stream = true;
        al_http_server_wake(exchange->server);
    }
}

bool al_http_send(struct al_http_exchange *exchange, const char *bytes, size_t len)
{
    size_t limit = exchange->server->limits.stream_bytes;
    bool taken;

    al_hold(&exchange->server->lock);
    taken = exchange->stream && !exchange->ended && !exchange->over && !exchange->aborted &&
            exchange->out.len - exchange->out_sent <= limit;
    if (taken) {
        al_str_add(&exchange->out, bytes, len);
        al_http_server_wake(exchange->server);
    }
    return taken;
}

void al_http_end_stream(struct al_http_exchange *exchange)
{
    al_hold(&exchange->server->lock);
    if (exchange->stream && !exchange->ended) {
        exchange->ended = true;
        al_http_server_wake(exchange->server);
    }
}

void al_http_abort(struct al_http_exchange *exchange)
{
    al_hold(&exchange->server->lock);
    if (!exchange->over) {
        exchange->aborted = true;
        al_http_server_wake(exchange->server);
    }
}

/* The time when the answer is to go out: one that has passed if there was no al_http_delay(),
 * INT64_MAX while there is no answer. */
static int64_t due_at(struct al_http_exchange *exchange)
{
    al_hold(&exchange->server->lock);
    return exchange->answered ? exchange->not_before_ms : INT64_MAX;
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

/* The library forgets what a connection waits for when it is suspended; resumed, it would read
 * first, and take the end of a half-closed client's input for the end of the client.  So it is
 * asked once more, and suspended then. */
static void yield_or_suspend(struct al_http_connection *connection)
{
    if (connection->yielded)
        al_http_connection_suspend(connection);
    connection->yielded = true;
}

static ssize_t on_take(void *cls, uint64_t position, char *ret_bytes, size_t max)
{
    struct al_http_exchange *exchange = cls;
    struct al_http_connection *connection = exchange->connection;
    ssize_t r = 0;

    (void)position;
    pthread_mutex_lock(&exchange->server->lock);
    if (connection->cut || exchange->aborted)
        r = MHD_CONTENT_READER_END_WITH_ERROR;
    else if (exchange->out_sent < exchange->out.len)
        r = (ssize_t)take_some(exchange, ret_bytes, max);
    else if (exchange->ended)
        r = MHD_CONTENT_READER_END_OF_STREAM;
    pthread_mutex_unlock(&exchange->server->lock);
    if (r > 0)
        al_http_connection_enter(connection, AL_HTTP_WRITING);
    else if (r == 0)
        yield_or_suspend(connection);
    return r;
}

static struct MHD_Response *make(struct al_http_exchange *exchange)
{
    const struct al_http_library *library = exchange->server->library;

    if (exchange->stream)
        return library->create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, on_take, exchange,
                                                      NULL);
    if (exchange->out.len > BLOCK_BYTES)
        return library->create_response_from_callback(exchange->out.len, BLOCK_BYTES, on_take,
                                                      exchange, NULL);
    /* The buffer stays until the library says that the response is out. */
    return library->create_response_from_buffer(exchange->out.len, exchange->out.buf,
                                                MHD_RESPMEM_PERSISTENT);
}

/* Hand the library the response of an exchange whose answer is due. */
static enum MHD_Result http_respond(struct al_http_exchange *exchange)
{
    const struct al_http_library *library = exchange->server->library;
    struct al_http_connection *connection = exchange->connection;
    struct MHD_Response *response = make(exchange);
    enum MHD_Result r = response ? MHD_YES : MHD_NO;

    for (size_t i = 0; r == MHD_YES && i < exchange->headers.names.count; i++)
        r = library->add_response_header(response, exchange->headers.names.items[i],
                                         exchange->headers.values.items[i]);
    if (r == MHD_YES && (exchange->close || exchange->server->drains))
        r = library->add_response_header(response, "Connection", "close");
    exchange->responding = true;
    al_http_connection_enter(connection, AL_HTTP_WRITING);
    if (r == MHD_YES)
        r = library->queue_response(connection->library, exchange->status, response);
    if (response)
        library->destroy_response(response);
    return r;
}

/* The headers of a request, as the library hands them over. */
struct reading {
    struct al_http_exchange *exchange;
    const char *next; /* where the next line has to begin; NULL: not looked at */
    unsigned count;
    const char *bad;
};

static struct al_http_connection *connection_of(struct al_http_server *server,
                                                struct MHD_Connection *library)
{
    const union MHD_ConnectionInfo *info =
        server->library->get_connection_info(library, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info->socket_context;
}

void *al_http_on_target(void *server, const char *target, struct MHD_Connection *library)
{
    struct al_http_connection *connection = connection_of(server, library);
    char *query = strchr((char *)(uintptr_t)target, '?');

    if (connection->phase == AL_HTTP_IDLE)
        al_http_connection_enter(connection, AL_HTTP_READING);
    free(connection->target);
    connection->target = al_strdup(target);
    connection->start = target;
    /* The library would make a list of the query's variables, of which a target that is all `&` has
     * more than fit into its memory; that ends in an error it does not recover from.  The text is
     * in its own buffer. */
    if (query)
        query[1] = '\0';
    return NULL;
}

size_t al_http_on_unescape(void *server, struct MHD_Connection *library, char *text)
{
    (void)server;
    (void)library;
    return strlen(text);
}

static enum MHD_Result on_field(void *cls, enum MHD_ValueKind kind, const char *name,
                                size_t name_len, const char *value, size_t value_len)
{
    struct reading *reading = cls;

    (void)kind;
    if (!value)
        value_len = 0;
    if (++reading->count > FIELDS_MAX)
        return MHD_NO;
    if (reading->next && reading->next != name)
        reading->bad = "a line does not end with CR and LF, is folded, or has a NUL";
    if (reading->next && value)
        reading->next = value + value_len + 2;
    if (!reading->bad)
        reading->bad =
            add_field(&reading->exchange->fields, name, name_len, value ? value : "", value_len);
    return reading->bad ? MHD_NO : MHD_YES;
}

static void refuse(struct al_http_exchange *exchange, unsigned status, const char *why)
{
    static const struct al_http_header headers[] = { { "Content-Type", "text/plain" } };
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;

    exchange->close = true;
    al_str_addf(&body, "%s\n", why);
    al_http_answer(exchange, status, headers, AL_COUNT(headers), body.buf, body.len);
}

static size_t header_bytes(struct al_http_connection *connection)
{
    const union MHD_ConnectionInfo *info = connection->server->library->get_connection_info(
        connection->library, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

    return info ? info->header_size : SIZE_MAX;
}

static void split_target(struct al_http_exchange *exchange)
{
    char *query = strchr(exchange->target, '?');

    if (query)
        *query++ = '\0';
    exchange->request.path = exchange->target;
    exchange->request.query = query;
}

/* Before 1.0 the library takes lines that end with LF alone, folded lines and NULs, and says
 * nothing of it.  But it cuts the request up where it lies, so the places of the pieces tell.  NULL
 * or what is wrong; adds the headers to the exchange. */
static const char *read_fields(struct al_http_connection *connection, const char *method,
                               const char *version, bool *ret_too_many)
{
    const struct al_http_library *library = connection->server->library;
    struct reading reading = { .exchange = connection->exchange };
    const char *target_end = connection->start + strlen(connection->target);
    static const char *const bad_line = "the request line is malformed";

    if (!library->strict) {
        if (method + strlen(method) + 1 != connection->start || target_end + 1 != version)
            return bad_line;
        reading.next = version + strlen(version) + 2;
    }
    library->get_connection_values_n(connection->library, MHD_HEADER_KIND, on_field, &reading);
    *ret_too_many = reading.count > FIELDS_MAX;
    if (!reading.bad && reading.next && !*ret_too_many &&
        reading.next + 2 != method + header_bytes(connection))
        return "a line does not end with CR and LF, is folded, or has a NUL";
    return reading.bad;
}

/* The room's own refusals.  False: the request was refused. */
static bool check(struct al_http_connection *connection, const char *method, const char *version,
                  struct framing *ret_framing)
{
    struct al_http_exchange *exchange = connection->exchange;
    bool too_many = false;
    const char *bad;

    /* Of a refused request nothing more is read, whatever its headers say. */
    *ret_framing = (struct framing){ .has_body = true };
    if (strcmp(version, "HTTP/1.1") != 0) {
        refuse(exchange, MHD_HTTP_HTTP_VERSION_NOT_SUPPORTED, "this server speaks HTTP/1.1 only");
        return false;
    }
    bad = read_fields(connection, method, version, &too_many);
    if (too_many || header_bytes(connection) > connection->server->limits.header_bytes) {
        refuse(exchange, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, "the headers are too large");
        return false;
    }
    if (!bad && !is_token(method, strlen(method)))
        bad = "the method is no token";
    if (!bad)
        bad = check_target(exchange->target);
    if (!bad) {
        *ret_framing = framing_of(&exchange->fields, connection->server->limits.body_bytes);
        bad = ret_framing->bad;
    }
    if (bad)
        refuse(exchange, MHD_HTTP_BAD_REQUEST, bad);
    return !bad;
}

static void begin(struct al_http_connection *connection, const char *method, const char *version)
{
    struct al_http_server *server = connection->server;
    struct al_http_exchange *exchange = exchange_new(server);
    struct framing framing;

    connection->exchange = exchange;
    exchange->connection = connection;
    exchange->request.method = al_strdup(method);
    exchange->target = al_strdup(connection->target);
    exchange->request.peer = al_strdup(connection->peer);
    exchange->request.listener = connection->listener;
    exchange->request.tls = server->listening[connection->listener].tls;
    if (check(connection, method, version, &framing)) {
        split_target(exchange);
        exchange->for_handler = true;
        exchange->close = framing.chunked || server->drains;
        if (server->handler->on_headers)
            server->handler->on_headers(server->payload, exchange, &exchange->request);
        if (framing.too_large && due_at(exchange) == INT64_MAX)
            refuse(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large");
    }
    if (!framing.has_body)
        exchange->stage = AL_HTTP_BODY;
}

/* The answer to a request whose body is not wanted: the library closes the connection after it. */
static enum MHD_Result go_on_or_refuse(struct al_http_connection *connection)
{
    struct al_http_exchange *exchange = connection->exchange;
    int64_t due_ms = due_at(exchange);

    if (due_ms == INT64_MAX) {
        exchange->stage = AL_HTTP_BODY;
        return MHD_YES;
    }
    if (due_ms <= al_clock_ms())
        return http_respond(exchange);
    al_http_connection_suspend(connection);
    return MHD_YES;
}

static void add_body(struct al_http_exchange *exchange, const char *upload, size_t *upload_len)
{
    size_t limit = exchange->server->limits.body_bytes;

    if (exchange->too_large || *upload_len > limit - exchange->body.len) {
        exchange->too_large = true;
        al_str_clear(&exchange->body);
    } else {
        al_str_add(&exchange->body, upload, *upload_len);
    }
    *upload_len = 0;
}

static void complete(struct al_http_connection *connection)
{
    struct al_http_server *server = connection->server;
    struct al_http_exchange *exchange = connection->exchange;

    exchange->stage = AL_HTTP_COMPLETE;
    exchange->request.body = exchange->body.buf;
    exchange->request.body_len = exchange->body.len;
    al_http_connection_enter(connection, AL_HTTP_WAITING);
    if (exchange->too_large)
        refuse(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large");
    else if (server->library->get_connection_values_n(connection->library, MHD_FOOTER_KIND, NULL,
                                                      NULL) > 0)
        refuse(exchange, MHD_HTTP_BAD_REQUEST, "headers after the body are not accepted");
    else if (due_at(exchange) == INT64_MAX)
        server->handler->on_request(server->payload, exchange, &exchange->request);
    wipe_field(&exchange->fields, "authorization"); /* an exchange may last for hours */
    al_http_connection_tell_gone(connection);
}

/* The request is complete, and the library asks for the response. */
static enum MHD_Result respond_or_wait(struct al_http_connection *connection)
{
    struct al_http_exchange *exchange = connection->exchange;

    if (due_at(exchange) <= al_clock_ms())
        return http_respond(exchange);
    yield_or_suspend(connection);
    return MHD_YES;
}

enum MHD_Result al_http_on_request(void *server, struct MHD_Connection *library, const char *url,
                                   const char *method, const char *version, const char *upload,
                                   size_t *upload_len, void **context)
{
    struct al_http_connection *connection = connection_of(server, library);
    struct al_http_exchange *exchange = connection->exchange;

    (void)url;
    (void)context;
    if (connection->cut)
        return MHD_NO;
    if (!exchange) {
        begin(connection, method, version);
        return connection->exchange->stage == AL_HTTP_HEADERS ? go_on_or_refuse(connection)
                                                              : MHD_YES;
    }
    if (exchange->stage == AL_HTTP_HEADERS)
        return go_on_or_refuse(connection);
    if (*upload_len) {
        add_body(exchange, upload, upload_len);
        return MHD_YES;
    }
    if (exchange->stage == AL_HTTP_BODY)
        complete(connection);
    return respond_or_wait(connection);
}

void al_http_on_completed(void *argument, struct MHD_Connection *library, void **context,
                          enum MHD_RequestTerminationCode code)
{
    struct al_http_server *server = argument;
    struct al_http_connection *connection = connection_of(server, library);
    struct al_http_exchange *exchange = connection->exchange;
    bool lost = code != MHD_REQUEST_TERMINATED_COMPLETED_OK;

    (void)context;
    free(al_take(&connection->target));
    connection->exchange = NULL;
    if (connection->phase != AL_HTTP_IDLE)
        al_http_connection_enter(connection, AL_HTTP_IDLE);
    if (!exchange)
        return;
    pthread_mutex_lock(&server->lock);
    exchange->over = true;
    al_str_clear(&exchange->out);
    exchange->out_sent = 0;
    pthread_mutex_unlock(&server->lock);
    exchange->connection = NULL;
    if (exchange->for_handler && lost && !exchange->told_gone && !server->stops &&
        server->handler->on_gone)
        server->handler->on_gone(server->payload, exchange);
    if (exchange->for_handler && server->handler->on_end)
        server->handler->on_end(server->payload, exchange);
    al_http_unref(exchange);
}
