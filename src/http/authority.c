// SPDX-License-Identifier: Apache-2.0
#include "http/authority.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define PORT_MAX 65535

static bool parse_port(const char *text, size_t len, int *ret_port)
{
    int port = 0;

    if (!len || len > 5 || (len > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        port = 10 * port + (text[i] - '0');
    }
    *ret_port = port;
    return port <= PORT_MAX;
}

static bool parse_address(int family, const char *text, size_t len, unsigned char *ret_address)
{
    char copy[AL_ADDRESS_TEXT_BYTES];

    if (!len || len >= sizeof(copy) || memchr(text, '\0', len))
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return inet_pton(family, copy, ret_address) == 1;
}

static bool is_name(const char *text, size_t len)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_";

    if (!len || len > AL_HOST_NAME_MAX_BYTES || text[0] == '.' || text[len - 1] == '.')
        return false;
    for (size_t i = 0; i < len; i++) {
        bool is_dot = text[i] == '.' && text[i - 1] != '.';

        if (!text[i] || (!is_dot && !strchr(allowed, text[i])))
            return false;
    }
    return true;
}

static bool parse_host(const char *text, size_t len, struct al_authority *authority)
{
    if (parse_address(AF_INET, text, len, authority->address)) {
        authority->kind = AL_HOST_IPV4;
        return true;
    }
    memset(authority->address, 0, sizeof(authority->address));
    authority->kind = AL_HOST_NAME;
    authority->name = text;
    authority->len = len;
    return is_name(text, len);
}

bool al_authority_parse(const char *text, size_t len, struct al_authority *ret_authority)
{
    struct al_authority authority = { .port = -1 };
    const char *host_end, *colon;
    bool fits;

    if (len && text[0] == '[') {
        host_end = memchr(text, ']', len);
        authority.kind = AL_HOST_IPV6;
        fits = host_end &&
               parse_address(AF_INET6, text + 1, (size_t)(host_end - text - 1), authority.address);
        if (!fits)
            return false;
        colon = ++host_end;
    } else {
        colon = memchr(text, ':', len);
        host_end = colon ? colon : text + len;
        colon = host_end;
        if (!parse_host(text, (size_t)(host_end - text), &authority))
            return false;
    }
    if (colon < text + len &&
        (*colon != ':' ||
         !parse_port(colon + 1, (size_t)(text + len - colon - 1), &authority.port)))
        return false;
    *ret_authority = authority;
    return true;
}

bool al_authority_same_host(const struct al_authority *a, const struct al_authority *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == AL_HOST_NAME)
        return a->len == b->len && !strncasecmp(a->name, b->name, a->len);
    return !memcmp(a->address, b->address, sizeof(a->address));
}

bool al_authority_is_loopback(const struct al_authority *authority)
{
    static const unsigned char loopback[16] = { [15] = 1 };

    if (authority->kind == AL_HOST_IPV4)
        return authority->address[0] == 127;
    return authority->kind == AL_HOST_IPV6 &&
           !memcmp(authority->address, loopback, sizeof(loopback));
}

bool al_authority_is_wildcard(const struct al_authority *authority)
{
    static const unsigned char any[16] = { 0 };

    return authority->kind != AL_HOST_NAME && !memcmp(authority->address, any, sizeof(any));
}

bool al_authority_is_localhost(const struct al_authority *authority)
{
    static const char localhost[] = "localhost";

    return authority->kind == AL_HOST_NAME && authority->len == sizeof(localhost) - 1 &&
           !strncasecmp(authority->name, localhost, authority->len);
}
