// SPDX-License-Identifier: Apache-2.0
#include "http/listening.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCKET_MODE 0600

static int set_flag(int fd, int level, int option)
{
    const int on = 1;

    return setsockopt(fd, level, option, &on, sizeof(on));
}

static int connect_to(const struct al_http_address *address)
{
    al_auto(al_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    return connect(fd, (const struct sockaddr *)&address->socket, address->socket_len) < 0 ? -errno
                                                                                           : 0;
}

/* What is in the way of a Unix socket is removed if it is a socket on which nobody listens. */
static int clear_way(const struct al_http_address *address, struct al_error *err)
{
    struct stat before, now;
    int r;

    if (lstat(address->host, &before) < 0)
        return errno == ENOENT ? 0
                               : al_error_errno(err, errno, "cannot look at '%s'", address->host);
    if (!S_ISSOCK(before.st_mode))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' exists and is no socket; choose another path", address->host);
    r = connect_to(address);
    if (r != -ECONNREFUSED)
        return r == 0 || r == -EAGAIN
                   ? al_error_set(err, AL_ERR_EXECUTION,
                                  "another server listens on '%s'; stop it or choose another path",
                                  address->host)
                   : al_error_errno(err, -r, "cannot tell whether '%s' is in use", address->host);
    if (lstat(address->host, &now) < 0 || now.st_dev != before.st_dev ||
        now.st_ino != before.st_ino)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' was replaced meanwhile; start the server again", address->host);
    if (unlink(address->host) < 0 && errno != ENOENT)
        return al_error_errno(err, errno, "cannot remove the dead socket '%s'", address->host);
    return 0;
}

static int bind_unix(struct al_http_listening *listening, struct al_error *err)
{
    const struct al_http_address *address = &listening->address;
    struct stat st;
    int r = clear_way(address, err);

    if (r < 0)
        return r;
    /* The file gets the mode of the socket, so that it is never open to others. */
    if (fchmod(listening->fd, SOCKET_MODE) < 0 ||
        bind(listening->fd, (const struct sockaddr *)&address->socket, address->socket_len) < 0 ||
        lstat(address->host, &st) < 0)
        return al_error_errno(err, errno, "cannot make the socket '%s'", address->host);
    listening->dev = st.st_dev;
    listening->ino = st.st_ino;
    if ((st.st_mode & 07777) != SOCKET_MODE && chmod(address->host, SOCKET_MODE) < 0)
        return al_error_errno(err, errno, "cannot protect the socket '%s'", address->host);
    return 0;
}

static int bind_ip(struct al_http_listening *listening, struct al_error *err)
{
    struct sockaddr_storage socket = { .ss_family = AF_UNSPEC };
    const struct al_http_address *address = &listening->address;
    socklen_t len = sizeof(socket);

    if (set_flag(listening->fd, SOL_SOCKET, SO_REUSEADDR) < 0 ||
        (address->family == AF_INET6 && set_flag(listening->fd, IPPROTO_IPV6, IPV6_V6ONLY) < 0) ||
        bind(listening->fd, (const struct sockaddr *)&address->socket, address->socket_len) < 0 ||
        getsockname(listening->fd, (struct sockaddr *)&socket, &len) < 0) {
        int errno_value = errno;
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        al_http_address_print(address, &text);
        return al_error_errno(err, errno_value, "cannot listen on %s", text.buf);
    }
    al_http_address_from(&socket, len, &listening->address);
    return 0;
}

int al_http_listening_open(const struct al_http_address *address, bool tls,
                           struct al_http_listening *ret, struct al_error *err)
{
    struct al_http_listening listening = { .address = *address, .tls = tls };
    int r;

    listening.fd = socket(address->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listening.fd < 0)
        return al_error_errno(err, errno, "cannot make a socket");
    r = address->family == AF_UNIX ? bind_unix(&listening, err) : bind_ip(&listening, err);
    if (r == 0 && listen(listening.fd, SOMAXCONN) < 0)
        r = al_error_errno(err, errno, "cannot listen on '%s'", address->host);
    if (r < 0) {
        al_http_listening_close(&listening);
        return r;
    }
    *ret = listening;
    return 0;
}

void al_http_listening_close(struct al_http_listening *listening)
{
    struct stat st;

    if (listening->fd < 0)
        return;
    if (listening->ino && lstat(listening->address.host, &st) == 0 && st.st_dev == listening->dev &&
        st.st_ino == listening->ino)
        unlink(listening->address.host);
    al_close(al_take_fd(&listening->fd));
}
