// SPDX-License-Identifier: Apache-2.0
/* [serve]: the limits of a server over HTTP, their bounds and defaults. */
#ifndef AL_CONFIG_SERVE_H
#define AL_CONFIG_SERVE_H

#include <stdint.h>

#include "util/error.h"

#define AL_SERVE_BODY_DEFAULT                  4194304
#define AL_SERVE_BODY_MIN                      1024
#define AL_SERVE_BODY_MAX                      67108864
#define AL_SERVE_HEADERS_DEFAULT               32768
#define AL_SERVE_HEADERS_MIN                   1024
#define AL_SERVE_HEADERS_MAX                   1048576
#define AL_SERVE_CONNECTIONS_DEFAULT           512
#define AL_SERVE_CONNECTIONS_PER_TOKEN_DEFAULT 64
#define AL_SERVE_CONNECTIONS_MAX               65536
#define AL_SERVE_CALLS_DEFAULT                 128
#define AL_SERVE_CALLS_PER_TOKEN_DEFAULT       16
#define AL_SERVE_CALLS_MAX                     4096
#define AL_SERVE_SESSIONS_PER_TOKEN_DEFAULT    64
#define AL_SERVE_SESSIONS_MAX                  4096
#define AL_SERVE_REQUEST_S_DEFAULT             60
#define AL_SERVE_STALL_S_DEFAULT               60
#define AL_SERVE_IDLE_S_DEFAULT                1800
#define AL_SERVE_DRAIN_S_DEFAULT               10
#define AL_SERVE_WAIT_S_MAX                    3600
#define AL_SERVE_IDLE_S_MAX                    604800

/** The places to listen at, and the configured hosts and origins. */
#define AL_SERVE_PLACES_MAX 16
#define AL_SERVE_NAMES_MAX  256

/** What clients over HTTP may use. */
struct al_serve_limits {
    uint32_t max_body;              /**< bytes of a request's body */
    uint32_t max_headers;           /**< bytes of a request's headers */
    uint32_t connections;           /**< of all clients */
    uint32_t connections_per_token; /**< of one token's clients */
    uint32_t calls;                 /**< of tools, in flight at once */
    uint32_t calls_per_token;
    uint32_t sessions_per_token;
    uint32_t request_s; /**< seconds for a whole request to arrive */
    uint32_t stall_s;   /**< seconds that a client may read nothing of its answer */
    uint32_t idle_s;    /**< seconds until a session ends that is not used */
    uint32_t drain_s;   /**< seconds that calls in flight get at the end; 0: none */
};

/** Set the defaults. */
void al_serve_limits_init(struct al_serve_limits *limits);

/** Check a place to listen at: "127.0.0.1:7420", "[::1]:7420", "unix:/path".  0 or
 * AL_ERR_BAD_ARGS. */
int al_serve_check_place(const char *place, struct al_error *err);

#endif
