// SPDX-License-Identifier: Apache-2.0
/*
 * The address that an HTTP server listens at: `127.0.0.1:8080`, `[::1]:8080` or
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

/*
 * From where a request may come: the rules for Host and Origin, which keep web pages from reaching
 * a server on the user's machine (DNS rebinding, cross-site requests).
 *
 *   Host    the address that the server listens on, `localhost`, or a configured host
 *   Origin  absent, an origin of that address or of `localhost`, or a configured origin
 *
 * - Scheme, host and port are compared.  A configured host without a port matches any port.
 * - A name matches as a whole, without regard to case; there are no wildcards, and a name with a
 *   dot at its end is another name.
 * - Addresses are compared as numbers; "[::1]" and "[0:0::1]" are equal.  Only the usual form of
 *   IPv4 addresses is one.
 * - Beyond loopback `localhost` and loopback addresses are accepted, and the address itself only if
 *   there is no proxy in front and it is not the wildcard address.
 *
 * Source: MCP "Streamable HTTP", security warning; RFC 9110 section 7.2; RFC 6454.
 */

/** The longest name of a host (RFC 1035). */
#define AL_HOST_NAME_MAX_BYTES 253u

/** The longest text of an address, with a NUL. */
#define AL_ADDRESS_TEXT_BYTES 46u

/** The form of a host. */
enum al_host_kind { AL_HOST_NAME, AL_HOST_IPV4, AL_HOST_IPV6 };

/** A host, and a port if there is one. */
struct al_authority {
    enum al_host_kind kind;
    unsigned char address[16]; /**< of an IP address, in network order; zeros behind it */
    const char *name;          /**< of a name; borrowed from the text that was parsed */
    size_t len;                /**< of the name */
    int port;                  /**< -1: none */
};

/** The place where a server listens.  Borrowed members. */
struct al_http_place {
    const char
        *address;  /**< as numbers, without brackets: "127.0.0.1", "::1"; NULL: a Unix socket */
    uint16_t port; /**< 0 for a Unix socket */
    bool tls;
    bool behind_proxy;
};

/** Test whether an address, as numbers and without brackets, is a loopback address. */
bool al_http_is_loopback(const char *address);

/**
 * Test whether a Host header is acceptable.
 *
 * @param host   The only Host header of the request; NULL: there is none, which is not acceptable.
 * @param hosts  Checked by al_http_check_host().
 */
bool al_http_accepts_host(const struct al_http_place *place, const struct al_strv *hosts,
                          const char *host);

/**
 * Test whether an Origin header is acceptable.
 *
 * @param origin   The only Origin header of the request; NULL: there is none, which is acceptable.
 * @param origins  Checked by al_http_check_origin().
 */
bool al_http_accepts_origin(const struct al_http_place *place, const struct al_strv *origins,
                            const char *origin);

/** Test whether an Origin header is a configured origin: browsers need CORS headers for it. */
bool al_http_is_configured_origin(const struct al_strv *origins, const char *origin);

/** Check a configured host: "name", "name:port", "192.0.2.1", "[2001:db8::1]:port".  0 or
 * AL_ERR_BAD_ARGS. */
int al_http_check_host(const char *host, struct al_error *err);

/** Check a configured origin: "https://name", "http://name:port".  0 or AL_ERR_BAD_ARGS. */
int al_http_check_origin(const char *origin, struct al_error *err);

/**
 * Parse "name", "name:port", "192.0.2.1:port", "[2001:db8::1]:port".
 *
 * A name consists of letters, digits, '-', '_' and inner '.'.  A port has no sign and no leading
 * zero, and is at most 65535.
 */
bool al_authority_parse(const char *text, size_t len, struct al_authority *ret_authority);

/** Test whether two hosts are the same, whatever their ports. */
bool al_authority_same_host(const struct al_authority *a, const struct al_authority *b);

/** 127.0.0.0/8 or ::1. */
bool al_authority_is_loopback(const struct al_authority *authority);

/** 0.0.0.0 or ::. */
bool al_authority_is_wildcard(const struct al_authority *authority);

/** The name `localhost`. */
bool al_authority_is_localhost(const struct al_authority *authority);

#endif
