// SPDX-License-Identifier: Apache-2.0
/* HOST[:PORT], as in a Host header, and the listening address of an option. */
#ifndef AL_HTTP_AUTHORITY_H
#define AL_HTTP_AUTHORITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The longest name of a host (RFC 1035). */
#define AL_HOST_NAME_MAX_BYTES 253u

/** The longest text of an address, with a NUL. */
#define AL_ADDRESS_TEXT_BYTES 46u

/** How a host is written. */
enum al_host_kind { AL_HOST_NAME, AL_HOST_IPV4, AL_HOST_IPV6 };

/** A host, and a port if there is one. */
struct al_authority {
    enum al_host_kind kind;
    unsigned char address[16]; /**< of an IP address, in network order; zeros behind it */
    const char *name;          /**< of a name; borrowed from the text that was parsed */
    size_t len;                /**< of the name */
    int port;                  /**< -1: none */
};

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
