// SPDX-License-Identifier: Apache-2.0
/*
 * The front door of a server over HTTP: it decides about a request as soon as its headers are
 * there, before a body is read, and hands what may come in to the endpoint of MCP.
 *
 *   Host, Origin   403    from where; see http/origin.h
 *   path           404    but for /mcp; /health, which needs no token; and /review, which has its
 *                         own rules (cli/review/web/site.h)
 *   token          401    late, if there were many wrong ones; see http/throttle.h
 *   connections    429    of one token
 *   query          400    /mcp has none; a token in it would be in logs of proxies
 *
 * Nothing of a request is ever logged.
 */
#ifndef AL_CLI_SERVE_HTTP_DOOR_H
#define AL_CLI_SERVE_HTTP_DOOR_H

#include "cli/serve/http_access.h"
#include "http/server.h"

struct al_endpoint;
struct al_site;
struct al_http_door;

/** For al_http_options; the payload is a door. */
extern const struct al_http_handler al_http_door_handler;

/** Make a door that answers 503 until al_http_door_open().  All are borrowed. */
struct al_http_door *al_http_door_new(struct al_http_access *access, struct al_endpoint *endpoint,
                                      struct al_site *site);

/** After the end of the HTTP server. */
void al_http_door_free(struct al_http_door *door);

/** Let requests in.  `places` has one item for each listener, in their order; borrowed. */
void al_http_door_open(struct al_http_door *door, const struct al_http_place *places);

#endif
