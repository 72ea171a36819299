// SPDX-License-Identifier: Apache-2.0
#include "serve/http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "serve/http/origin.h"

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
