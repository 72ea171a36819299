// SPDX-License-Identifier: Apache-2.0
#include "serve/http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

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

/* --- Where a server listens --- */

static int parse_unix(const char *path, struct al_http_address *ret, struct al_error *err)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    size_t len = strlen(path);

    if (!len)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "'unix:' needs a path, as in unix:/path/to/socket");
    if (len > AL_HTTP_SOCKET_PATH_MAX)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "the path of a Unix socket has at most %d bytes: '%s'",
                            AL_HTTP_SOCKET_PATH_MAX, path);
    memcpy(name.sun_path, path, len + 1);
    *ret =
        (struct al_http_address){ .family = AF_UNIX, .loopback = true, .socket_len = sizeof(name) };
    memcpy(&ret->socket, &name, sizeof(name));
    memcpy(ret->host, path, len + 1);
    return 0;
}

static struct sockaddr_storage socket_of(const struct al_authority *authority, socklen_t *ret_len)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)authority->port) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
                               .sin6_port = htons((uint16_t)authority->port) };
    struct sockaddr_storage socket = { .ss_family = AF_UNSPEC };

    memcpy(&v4.sin_addr, authority->address, sizeof(v4.sin_addr));
    memcpy(&v6.sin6_addr, authority->address, sizeof(v6.sin6_addr));
    if (authority->kind == AL_HOST_IPV4)
        memcpy(&socket, &v4, sizeof(v4));
    else
        memcpy(&socket, &v6, sizeof(v6));
    *ret_len = authority->kind == AL_HOST_IPV4 ? sizeof(v4) : sizeof(v6);
    return socket;
}

int al_http_address_parse(const char *text, struct al_http_address *ret, struct al_error *err)
{
    struct al_authority authority;

    if (al_starts_with(text, "unix:"))
        return parse_unix(text + strlen("unix:"), ret, err);
    if (!al_authority_parse(text, strlen(text), &authority) || authority.port < 0 ||
        authority.kind == AL_HOST_NAME)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "'%s' is no address; write it in numbers with a port, as in "
                            "127.0.0.1:8080 or [::1]:8080, or unix:PATH",
                            text);
    *ret = (struct al_http_address){ .family = authority.kind == AL_HOST_IPV4 ? AF_INET : AF_INET6,
                                     .port = (uint16_t)authority.port,
                                     .loopback = al_authority_is_loopback(&authority) };
    ret->socket = socket_of(&authority, &ret->socket_len);
    (void)inet_ntop(ret->family, authority.address, ret->host, sizeof(ret->host));
    return 0;
}

void al_http_address_print(const struct al_http_address *address, struct al_str *out)
{
    if (address->family == AF_UNIX)
        al_str_addf(out, "unix:%s", address->host);
    else if (address->family == AF_INET6)
        al_str_addf(out, "[%s]:%u", address->host, address->port);
    else
        al_str_addf(out, "%s:%u", address->host, address->port);
}

/* --- From where a request may come --- */

#define HTTP_PORT  80
#define HTTPS_PORT 443

/* "scheme://host:port" in parts. */
struct origin {
    const char *scheme; /* borrowed */
    size_t scheme_len;
    struct al_authority authority;
};

static bool is_scheme(const struct origin *origin, const char *scheme)
{
    return origin->scheme_len == strlen(scheme) &&
           !strncasecmp(origin->scheme, scheme, origin->scheme_len);
}

static bool is_scheme_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = (char)(text[i] | 0x20); /* in lower case, if it is a letter */
        bool is_later = i && ((text[i] >= '0' && text[i] <= '9') || strchr("+-.", text[i]));

        if (!text[i] || !((c >= 'a' && c <= 'z') || is_later))
            return false;
    }
    return len > 0;
}

static int default_port(const struct origin *origin)
{
    if (is_scheme(origin, "http"))
        return HTTP_PORT;
    return is_scheme(origin, "https") ? HTTPS_PORT : -1;
}

/* A port that is left out is the scheme's. */
static bool parse_origin(const char *text, struct origin *ret_origin)
{
    const char *colon = strstr(text, "://");
    struct origin origin = { .scheme = text, .scheme_len = colon ? (size_t)(colon - text) : 0 };

    if (!is_scheme_name(text, origin.scheme_len) ||
        !al_authority_parse(colon + 3, strlen(colon + 3), &origin.authority))
        return false;
    if (origin.authority.port < 0)
        origin.authority.port = default_port(&origin);
    *ret_origin = origin;
    return true;
}

/* Read the address of a place, which has no brackets. */
static bool parse_own(const char *address, struct al_authority *ret_own)
{
    al_auto(al_freep) char *text =
        address ? al_asprintf(strchr(address, ':') ? "[%s]" : "%s", address) : NULL;

    return text && al_authority_parse(text, strlen(text), ret_own);
}

/* Whether the host stands for the address that the server listens on. */
static bool is_own_host(const struct al_http_place *place, const struct al_authority *host)
{
    struct al_authority own;

    if (al_authority_is_localhost(host))
        return true;
    if (!parse_own(place->address, &own))
        return al_authority_is_loopback(host);
    if (!al_authority_is_loopback(&own) && al_authority_is_loopback(host))
        return true;
    if (!al_authority_is_loopback(&own) && (place->behind_proxy || al_authority_is_wildcard(&own)))
        return false;
    return al_authority_same_host(&own, host);
}

bool al_http_is_loopback(const char *address)
{
    struct al_authority own;

    return parse_own(address, &own) && al_authority_is_loopback(&own);
}

/* Whether a port of a Host header, -1 for none, stands for `wanted`.  A proxy's scheme is unknown.
 */
static bool is_port(const struct al_http_place *place, int port, int wanted)
{
    if (port >= 0)
        return port == wanted;
    if (place->behind_proxy && (wanted == HTTP_PORT || wanted == HTTPS_PORT))
        return true;
    return wanted == (place->tls ? HTTPS_PORT : HTTP_PORT);
}

static bool is_configured_host(const struct al_http_place *place, const struct al_strv *hosts,
                               const struct al_authority *host)
{
    for (size_t i = 0; i < hosts->count; i++) {
        struct al_authority configured;

        if (al_authority_parse(hosts->items[i], strlen(hosts->items[i]), &configured) &&
            al_authority_same_host(&configured, host) &&
            (configured.port < 0 || is_port(place, host->port, configured.port)))
            return true;
    }
    return false;
}

bool al_http_accepts_host(const struct al_http_place *place, const struct al_strv *hosts,
                          const char *host)
{
    struct al_authority given;

    if (!host || !al_authority_parse(host, strlen(host), &given))
        return false;
    if (is_own_host(place, &given) &&
        (!place->address || is_port(place, given.port, (int)place->port)))
        return true;
    return is_configured_host(place, hosts, &given);
}

bool al_http_is_configured_origin(const struct al_strv *origins, const char *origin)
{
    struct origin given, configured;

    if (!origin || !parse_origin(origin, &given))
        return false;
    for (size_t i = 0; i < origins->count; i++)
        if (parse_origin(origins->items[i], &configured) &&
            given.scheme_len == configured.scheme_len &&
            !strncasecmp(given.scheme, configured.scheme, given.scheme_len) &&
            given.authority.port == configured.authority.port &&
            al_authority_same_host(&given.authority, &configured.authority))
            return true;
    return false;
}

bool al_http_accepts_origin(const struct al_http_place *place, const struct al_strv *origins,
                            const char *origin)
{
    struct origin given;

    if (!origin)
        return true;
    /* A browser reaches a Unix socket only through a proxy, whose origin has to be configured. */
    if (place->address && parse_origin(origin, &given) &&
        is_scheme(&given, place->tls ? "https" : "http") && is_own_host(place, &given.authority) &&
        given.authority.port == (int)place->port)
        return true;
    return al_http_is_configured_origin(origins, origin);
}

int al_http_check_host(const char *host, struct al_error *err)
{
    struct al_authority authority;

    if (al_authority_parse(host, strlen(host), &authority) && authority.port != 0)
        return 0;
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "must be a host name or an address, with ':PORT' or without, as in "
                        "'mcp.example.org' or '[2001:db8::1]:7420'; there are no wildcards");
}

int al_http_check_origin(const char *origin, struct al_error *err)
{
    struct origin parsed;

    if (parse_origin(origin, &parsed) && parsed.authority.port != 0)
        return 0;
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "must be an origin, as in 'https://app.example.org'; there are no paths "
                        "and no wildcards");
}
