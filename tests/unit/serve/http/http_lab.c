// SPDX-License-Identifier: Apache-2.0
#include "http_lab.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "tests/lib/assert.h"

#define PATIENCE_S 60 /* a client that waits longer fails */

struct al_str lab_head = { .buf = al_str_empty };

static void hold(struct lab *lab, struct al_http_exchange *exchange)
{
    pthread_mutex_lock(&lab->lock);
    if (!lab->held)
        lab->held = al_http_ref(exchange);
    pthread_cond_broadcast(&lab->changed);
    pthread_mutex_unlock(&lab->lock);
}

static void count(struct lab *lab, int *counter)
{
    pthread_mutex_lock(&lab->lock);
    ++*counter;
    pthread_cond_broadcast(&lab->changed);
    pthread_mutex_unlock(&lab->lock);
}

static void on_headers(void *payload, struct al_http_exchange *exchange,
                       const struct al_http_request *request)
{
    static const struct al_http_header headers[] = { { "WWW-Authenticate", "Bearer" } };
    struct lab *lab = payload;

    if (strcmp(request->path, "/slow") == 0)
        al_http_delay(exchange, 50);
    if (strcmp(request->path, "/refuse") == 0 || strcmp(request->path, "/slow") == 0)
        al_http_answer(exchange, 401, headers, 1, "no\n", 3);
    if (strcmp(request->path, "/key") == 0 && !al_http_set_key(exchange, 7))
        al_http_answer(exchange, 429, NULL, 0, NULL, 0);
    if (strcmp(request->path, "/free") == 0)
        al_http_set_key(exchange, 0);
    count(lab, &lab->headers);
}

static void echo(struct al_http_exchange *exchange, const struct al_http_request *request)
{
    static const struct al_http_header headers[] = { { "Content-Type", "text/plain" } };
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;
    const char *listed = al_http_find_header(request, "accept");

    al_str_addf(&body, "%s %s %s\n", request->method, request->path,
                request->query ? request->query : "-");
    if (listed)
        al_str_addf(&body, "accept: %s\n", listed);
    al_str_add(&body, request->body, request->body_len);
    al_http_answer(exchange, 200, headers, 1, body.buf, body.len);
}

static void big(struct al_http_exchange *exchange)
{
    al_auto(al_freep) char *body = al_malloc(LAB_BIG_BYTES);

    memset(body, 'b', LAB_BIG_BYTES);
    al_http_answer(exchange, 200, NULL, 0, body, LAB_BIG_BYTES);
}

static void flood(struct lab *lab, struct al_http_exchange *exchange)
{
    char bytes[1000];

    memset(bytes, 'f', sizeof(bytes));
    al_http_begin_stream(exchange, 200, NULL, 0);
    while (al_http_send(exchange, bytes, sizeof(bytes)))
        count(lab, &lab->sends);
    hold(lab, exchange);
}

static void on_request(void *payload, struct al_http_exchange *exchange,
                       const struct al_http_request *request)
{
    struct lab *lab = payload;

    pthread_mutex_lock(&lab->lock);
    al_str_addf(&lab->seen, "%s %s\n", request->method, request->path);
    pthread_mutex_unlock(&lab->lock);
    if (strcmp(request->path, "/echo") == 0 || strcmp(request->path, "/key") == 0 ||
        strcmp(request->path, "/free") == 0)
        echo(exchange, request);
    else if (strcmp(request->path, "/big") == 0)
        big(exchange);
    else if (strcmp(request->path, "/flood") == 0)
        flood(lab, exchange);
    else if (lab->keeps_nothing)
        al_http_answer(exchange, 404, NULL, 0, NULL, 0);
    else
        hold(lab, exchange);
    count(lab, &lab->requests);
}

static void on_gone(void *payload, struct al_http_exchange *exchange)
{
    struct lab *lab = payload;

    (void)exchange;
    count(lab, &lab->gone);
}

static void on_end(void *payload, struct al_http_exchange *exchange)
{
    struct lab *lab = payload;

    (void)exchange;
    count(lab, &lab->ended);
}

static const struct al_http_handler handler = { on_headers, on_request, on_gone, on_end };

static void start(struct lab *lab, struct al_http_options *options)
{
    struct al_error err = AL_ERROR_INIT;

    *lab = (struct lab){ .seen = AL_STR_INIT };
    pthread_mutex_init(&lab->lock, NULL);
    pthread_cond_init(&lab->changed, NULL);
    options->handler = &handler;
    options->payload = lab;
    if (al_http_server_new(options, &lab->server, &err) < 0 ||
        al_http_server_start(lab->server, &err) < 0)
        fail_msg("%s", err.message);
}

void lab_start(struct lab *lab, const struct al_http_limits *limits,
               const struct al_http_listener *listeners, size_t listener_count)
{
    struct al_http_listener local = { .tls = false };
    struct al_http_options options = { .listeners = listeners, .listener_count = listener_count };

    if (!listener_count) {
        assert_int_equal(al_http_address_parse("127.0.0.1:0", &local.address, NULL), 0);
        options.listeners = &local;
        options.listener_count = 1;
    }
    if (limits)
        options.limits = *limits;
    start(lab, &options);
}

void lab_start_tls(struct lab *lab, const struct al_http_listener *listener, const char *cert,
                   const char *key)
{
    struct al_http_options options = { .listeners = listener,
                                       .listener_count = 1,
                                       .tls = { cert, key } };

    start(lab, &options);
}

void lab_stop(struct lab *lab)
{
    al_http_server_free(lab->server);
    assert_int_equal(lab->ended, lab->headers);
    al_http_unref(lab->held);
    al_str_clear(&lab->seen);
    al_str_clear(&lab_head);
    pthread_cond_destroy(&lab->changed);
    pthread_mutex_destroy(&lab->lock);
}

struct al_http_exchange *lab_held(struct lab *lab)
{
    struct al_http_exchange *held;

    pthread_mutex_lock(&lab->lock);
    while (!lab->held)
        pthread_cond_wait(&lab->changed, &lab->lock);
    held = lab->held;
    lab->held = NULL;
    pthread_mutex_unlock(&lab->lock);
    return held;
}

void lab_wait(struct lab *lab, const int *counter, int value)
{
    pthread_mutex_lock(&lab->lock);
    while (*counter < value)
        pthread_cond_wait(&lab->changed, &lab->lock);
    assert_int_equal(*counter, value);
    pthread_mutex_unlock(&lab->lock);
}

static size_t entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

size_t lab_threads(void)
{
    return entries("/proc/self/task") - 2;
}

size_t lab_descriptors(void)
{
    return entries("/proc/self/fd") - 3;
}

int lab_connect(const struct lab *lab, size_t listener)
{
    const struct al_http_address *address = al_http_server_address(lab->server, listener);
    const struct timeval patience = { .tv_sec = PATIENCE_S };
    const int on = 1;
    int fd = socket(address->family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* no matter for a Unix socket */
    if (connect(fd, (const struct sockaddr *)&address->socket, address->socket_len) < 0)
        fail_msg("connect: %s", strerror(errno));
    return fd;
}

void lab_send(int fd, const void *bytes, size_t len)
{
    const char *from = bytes;

    while (len) {
        ssize_t sent = send(fd, from, len, MSG_NOSIGNAL);

        if (sent <= 0)
            return; /* the server has closed; the response tells why */
        from += sent;
        len -= (size_t)sent;
    }
}

void lab_say(int fd, const char *text)
{
    lab_send(fd, text, strlen(text));
}

/* Read until a text is there, byte by byte, so that nothing of the next response is taken. */
static bool read_until(int fd, const char *end, struct al_str *out)
{
    char c;

    while (!al_ends_with(out->buf, end)) {
        if (recv(fd, &c, 1, 0) != 1)
            return false;
        al_str_addc(out, c);
    }
    return true;
}

static bool read_bytes(int fd, size_t len, struct al_str *out)
{
    char bytes[64 * 1024];

    while (len) {
        ssize_t n = recv(fd, bytes, len < sizeof(bytes) ? len : sizeof(bytes), 0);

        if (n <= 0)
            return false;
        al_str_add(out, bytes, (size_t)n);
        len -= (size_t)n;
    }
    return true;
}

static bool read_chunks(int fd, struct al_str *out)
{
    for (;;) {
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
        al_auto(al_str_clear) struct al_str end = AL_STR_INIT;
        unsigned long len;

        if (!read_until(fd, "\r\n", &line))
            return false;
        len = strtoul(line.buf, NULL, 16);
        if (!read_bytes(fd, len, out) || !read_until(fd, "\r\n", &end))
            return false;
        if (!len)
            return true;
    }
}

int lab_response_head(int fd, struct al_str *ret_head)
{
    al_str_reset(&lab_head);
    if (!read_until(fd, "\r\n\r\n", &lab_head))
        return 0;
    if (ret_head)
        al_str_add(ret_head, lab_head.buf, lab_head.len);
    return (int)strtol(lab_head.buf + strlen("HTTP/1.1 "), NULL, 10);
}

int lab_response(int fd, struct al_str *ret_body)
{
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;
    const char *length;
    int status = lab_response_head(fd, NULL);

    if (!status || status == 100 || status == 204)
        return status;
    length = strcasestr(lab_head.buf, "\r\ncontent-length:");
    if (strcasestr(lab_head.buf, "\r\ntransfer-encoding: chunked"))
        status = read_chunks(fd, &body) ? status : 0;
    else if (length)
        status = read_bytes(fd, strtoul(length + strlen("\r\ncontent-length:"), NULL, 10), &body)
                     ? status
                     : 0;
    if (ret_body)
        al_str_add(ret_body, body.buf, body.len);
    return status;
}

bool lab_closed(int fd)
{
    char bytes[4096];
    ssize_t n;

    do {
        n = recv(fd, bytes, sizeof(bytes), 0);
    } while (n > 0);
    return n == 0 || errno == ECONNRESET;
}

int lab_status(const struct lab *lab, const char *bytes, size_t len)
{
    int fd = lab_connect(lab, 0);
    int status;

    lab_send(fd, bytes, len);
    status = lab_response(fd, NULL);
    close(fd);
    return status;
}
