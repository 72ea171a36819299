// SPDX-License-Identifier: Apache-2.0
/* A client of al_mcp_serve(), which runs on a thread of the test.  Failures end the test. */
#ifndef TESTS_MCP_CLIENT_H
#define TESTS_MCP_CLIENT_H

#include <pthread.h>
#include <stdbool.h>

#include "base/json.h"
#include "base/str.h"
#include "git/repo/remotes.h"
#include "serve/mcp/server.h"

struct client {
    struct al_mcp_options options;
    int to_server, from_server;
    pthread_t thread;
    int status;          /* what al_mcp_serve() returned */
    struct al_str input; /* bytes read but not used yet */
};

/* Start a server over pipes, or over a pair of sockets as some clients do. */
struct client *client_start(const struct al_session *session, bool sockets);

/* Send one line, formatted. */
void client_send(struct client *client, const char *fmt, ...) al_printf(2, 3);

/* Send initialize and notifications/initialized; `capabilities` is JSON. */
void client_initialize(struct client *client, const char *revision, const char *capabilities);

/* The next message.  Caller owns the reference. */
json_t *client_read(struct client *client);

/* The next message must equal this JSON. */
void client_expect(struct client *client, const char *json);

/* The next message must be the result of `id` (JSON) with this text. */
void client_expect_text(struct client *client, const char *id, const char *text);

/* The next message must be an error of `id` (JSON; NULL: without one). */
void client_expect_error(struct client *client, const char *id, int code);

/* Send a ping.  The next message must be its answer. */
void client_expect_alive(struct client *client);

/* Close the server's input and wait for the server to end.  It must return 0 and send nothing. */
void client_finish(struct client *client);

/* Wait until there is something to read. */
void client_wait_readable(struct client *client);

/* Close the server's input and wait for the server to end.  Unread output is dropped. */
void client_abandon(struct client *client);

#endif
