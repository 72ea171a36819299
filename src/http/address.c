// SPDX-License-Identifier: Apache-2.0
#include "http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#define LOOPBACK_NET_V4 127

static int parse_port(const char *text, uint16_t *ret_port)
{
    unsigned port = 0;

    if (!*text || strlen(text) > 5 || strspn(text, "0123456789") != strlen(text))
        return -1;
    for (; *text; text++)
        port = port * 10 + (unsigned)(*text - '0');
    if (port > UINT16_MAX)
        return -1;
    *ret_port = (uint16_t)port;
    return 0;
}

static int parse_unix(const char *path, struct al_http_address *ret, struct al_error *err)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    struct sockaddr_storage socket = { .ss_family = AF_UNIX };
    size_t len = strlen(path);

    if (!len)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "'unix:' needs a path, as in unix:/path/to/socket");
    if (len > AL_HTTP_SOCKET_PATH_MAX)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "the path of a Unix socket has at most %d bytes: '%s'",
                            AL_HTTP_SOCKET_PATH_MAX, path);
    memcpy(name.sun_path, path, len + 1);
    memcpy(&socket, &name, sizeof(name));
    al_http_address_from(&socket, sizeof(name), ret);
    return 0;
}

/* `host` without brackets. */
static int parse_ip(const char *host, bool brackets, uint16_t port, struct sockaddr_storage *ret,
                    socklen_t *ret_len)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

    if (!brackets && inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        memcpy(ret, &v4, sizeof(v4));
        *ret_len = sizeof(v4);
        return 0;
    }
    if (brackets && inet_pton(AF_INET6, host, &v6.sin6_addr) == 1) {
        memcpy(ret, &v6, sizeof(v6));
        *ret_len = sizeof(v6);
        return 0;
    }
    return -1;
}

int al_http_address_parse(const char *text, struct al_http_address *ret, struct al_error *err)
{
    struct sockaddr_storage socket = { .ss_family = AF_UNSPEC };
    socklen_t len = 0;
    char host[INET6_ADDRSTRLEN];
    const char *colon = strrchr(text, ':');
    bool brackets = *text == '[';
    const char *start = text + brackets;
    const char *end = colon ? colon - brackets : NULL;
    uint16_t port = 0;

    if (al_starts_with(text, "unix:"))
        return parse_unix(text + strlen("unix:"), ret, err);
    if (!end || end < start || (brackets && *end != ']') || (size_t)(end - start) >= sizeof(host) ||
        parse_port(colon + 1, &port) < 0)
        return al_error_set(
            err, AL_ERR_BAD_ARGS,
            "'%s' is no address; write ADDR:PORT as in 127.0.0.1:8080, [::1]:8080, or "
            "unix:PATH",
            text);
    memcpy(host, start, (size_t)(end - start));
    host[end - start] = '\0';
    if (parse_ip(host, brackets, port, &socket, &len) < 0)
        return al_error_set(
            err, AL_ERR_BAD_ARGS,
            "'%s' is no numeric address; write 127.0.0.1, or [::1] with the brackets", text);
    al_http_address_from(&socket, len, ret);
    return 0;
}

static void from_unix(const struct sockaddr_storage *socket, socklen_t socket_len,
                      struct al_http_address *ret)
{
    struct sockaddr_un name;
    size_t before = offsetof(struct sockaddr_un, sun_path);
    size_t room = socket_len > before ? socket_len - before : 0;

    memcpy(&name, socket, sizeof(name));
    if (room > AL_HTTP_SOCKET_PATH_MAX)
        room = AL_HTTP_SOCKET_PATH_MAX;
    snprintf(ret->host, sizeof(ret->host), "%.*s", (int)room, name.sun_path);
    ret->loopback = true;
}

static void from_v6(const struct sockaddr_storage *socket, struct al_http_address *ret)
{
    struct sockaddr_in6 name;

    memcpy(&name, socket, sizeof(name));
    inet_ntop(AF_INET6, &name.sin6_addr, ret->host, sizeof(ret->host));
    ret->port = ntohs(name.sin6_port);
    ret->loopback = IN6_IS_ADDR_LOOPBACK(&name.sin6_addr);
}

static void from_v4(const struct sockaddr_storage *socket, struct al_http_address *ret)
{
    struct sockaddr_in name;

    memcpy(&name, socket, sizeof(name));
    inet_ntop(AF_INET, &name.sin_addr, ret->host, sizeof(ret->host));
    ret->port = ntohs(name.sin_port);
    ret->loopback = ntohl(name.sin_addr.s_addr) >> 24 == LOOPBACK_NET_V4;
}

void al_http_address_from(const struct sockaddr_storage *socket, socklen_t socket_len,
                          struct al_http_address *ret)
{
    *ret = (struct al_http_address){ .family = socket->ss_family,
                                     .socket = *socket,
                                     .socket_len = socket_len };
    if (socket->ss_family == AF_UNIX)
        from_unix(socket, socket_len, ret);
    else if (socket->ss_family == AF_INET6)
        from_v6(socket, ret);
    else if (socket->ss_family == AF_INET)
        from_v4(socket, ret);
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
