// SPDX-License-Identifier: Apache-2.0
#include "http/origin.h"

#include <string.h>
#include <strings.h>

#include "http/authority.h"

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

/* Whether the host stands for the address that the server listens on. */
static bool is_own_host(const struct al_http_place *place, const struct al_authority *host)
{
    struct al_authority own = { .port = -1 };
    const char *address = place->address;
    al_auto(al_freep) char *text =
        address ? al_asprintf(strchr(address, ':') ? "[%s]" : "%s", address) : NULL;

    if (al_authority_is_localhost(host))
        return true;
    if (!text || !al_authority_parse(text, strlen(text), &own))
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
    al_auto(al_freep) char *text = al_asprintf(strchr(address, ':') ? "[%s]" : "%s", address);

    return al_authority_parse(text, strlen(text), &own) && al_authority_is_loopback(&own);
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
