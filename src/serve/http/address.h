// SPDX-License-Identifier: Apache-2.0
/*
 * Where an HTTP server listens: `127.0.0.1:8080`, `[::1]:8080` or
 * `unix:/run/user/1000/airlock.sock`.
 *
 * Addresses are numeric: a name would be looked up, and could change.  Port 0 lets the kernel
 * choose.
 */
#ifndef AL_SERVE_HTTP_ADDRESS_H
#define AL_SERVE_HTTP_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/str.h"

/** The longest path of a Unix socket, in bytes without the NUL (unix(7)). */
#define AL_HTTP_SOCKET_PATH_MAX 107

/** One address; a plain value, without anything to release. */
struct al_http_address {
    sa_family_t family; /**< AF_INET, AF_INET6 or AF_UNIX */
    uint16_t port;      /**< host byte order; 0 for a Unix socket */
    bool loopback;      /**< only this machine can reach it; true for a Unix socket */
    struct sockaddr_storage socket;
    socklen_t socket_len;
    /** The address without brackets and port ("127.0.0.1", "::1"), or the path of the Unix socket.
     */
    char host[AL_HTTP_SOCKET_PATH_MAX + 1];
};

/** Read what a user wrote.  0 or AL_ERR_BAD_ARGS. */
int al_http_address_parse(const char *text, struct al_http_address *ret, struct al_error *err);

/** Append the address as a user writes it: "127.0.0.1:8080", "[::1]:8080", "unix:/path". */
void al_http_address_print(const struct al_http_address *address, struct al_str *out);

#endif
