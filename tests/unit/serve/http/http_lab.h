// SPDX-License-Identifier: Apache-2.0
/*
 * A server whose handler is steered by the path of a request, and a client that sends raw bytes.
 *
 *     /echo     answers with "METHOD PATH QUERY\n" and the body
 *     /refuse   is answered with 401 when its headers are complete
 *     /key      counts its connection for the key 7; 429 at the limit
 *     /slow     is refused as /refuse is, but 50 ms later
 *     /big      answers with BIG_BYTES bytes
 *     /flood    streams pieces of 1000 bytes until one is refused, and keeps the exchange
 *     others    are kept; the test answers, see lab_held()
 */
#ifndef TESTS_UNIT_HTTP_LAB_H
#define TESTS_UNIT_HTTP_LAB_H

#include <pthread.h>
#include <stdbool.h>

#include "base/str.h"
#include "serve/http/server.h"

#define LAB_BIG_BYTES ((size_t)8 * 1024 * 1024)

struct lab {
    struct al_http_server *server;
    bool keeps_nothing; /* other paths are answered with 404; set before the first request */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock */
    struct al_http_exchange *held; /* referenced */
    int headers, requests, gone, ended, sends;
    struct al_str seen; /* "METHOD PATH\n" of each on_request */
};

/* Start a server; `limits` may be NULL.  Without listeners: 127.0.0.1:0. */
void lab_start(struct lab *lab, const struct al_http_limits *limits,
               const struct al_http_listener *listeners, size_t count);
void lab_start_tls(struct lab *lab, const struct al_http_listener *listener, const char *cert,
                   const char *key);
void lab_stop(struct lab *lab);

/* Wait for an exchange that the handler keeps, and take it (unref it). */
struct al_http_exchange *lab_held(struct lab *lab);

/* Wait until a counter has a value.  A value that it never has hangs; the test runner ends that. */
void lab_wait(struct lab *lab, const int *counter, int value);

/* Threads and descriptors of this process. */
size_t lab_threads(void);
size_t lab_descriptors(void);

/* The client: connect to a listener. */
int lab_connect(const struct lab *lab, size_t listener);
void lab_send(int fd, const void *bytes, size_t len);
void lab_say(int fd, const char *text);

/* One response, with its body if it has one; without chunk sizes.  Returns the status; 0: the
 * connection was closed before.  `ret_body` may be NULL. */
int lab_response(int fd, struct al_str *ret_body);
/* The same for the response to a HEAD request. */
int lab_response_head(int fd, struct al_str *ret_head);
/* The status line and headers of the last response. */
extern struct al_str lab_head;

/* Whether the server has closed the connection; waits for it. */
bool lab_closed(int fd);

/* Send a request on a new connection: its status, or 0. */
int lab_status(const struct lab *lab, const char *bytes, size_t len);

#endif
