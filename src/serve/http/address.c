// SPDX-License-Identifier: Apache-2.0
#include "serve/http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "serve/http/origin.h"

#define LOOPBACK_NET_V4 127

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
    struct sockaddr_storage socket;
    socklen_t len;

    if (al_starts_with(text, "unix:"))
        return parse_unix(text + strlen("unix:"), ret, err);
    if (!al_authority_parse(text, strlen(text), &authority) || authority.port < 0 ||
        authority.kind == AL_HOST_NAME)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "'%s' is no address; write it in numbers with a port, as in "
                            "127.0.0.1:8080 or [::1]:8080, or unix:PATH",
                            text);
    socket = socket_of(&authority, &len);
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
