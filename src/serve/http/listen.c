// SPDX-License-Identifier: Apache-2.0
/* The library, and the sockets that listen. */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock.h"
#include "serve/http/private.h"

#define SONAME  "libmicrohttpd.so.12"
#define PACKAGE "libmicrohttpd12"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct al_http_library library; /* under `lock` until it is there */

#ifdef AL_LINKED
#define FUNCTION(name) .name = MHD_##name,

/* The program has the library in it.  The caller has the lock. */
static int find(const char *soname, struct al_http_library *ret, struct al_error *err)
{
    (void)soname;
    (void)err;
    *ret = (struct al_http_library){ AL_HTTP_FUNCTIONS(FUNCTION) };
    return 0;
}
#else
#define SYMBOL(name) { "MHD_" #name, offsetof(struct al_http_library, name) },

static const struct {
    const char *name;
    size_t offset;
} symbols[] = { AL_HTTP_FUNCTIONS(SYMBOL) };

static int find_symbols(void *handle, struct al_http_library *ret, struct al_error *err)
{
    for (size_t i = 0; i < AL_COUNT(symbols); i++) {
        void *symbol = dlsym(handle, symbols[i].name);

        if (!symbol)
            return al_error_set(err, AL_ERR_NOT_FOUND,
                                "libmicrohttpd is too old: it has no %s(); install " PACKAGE
                                " 0.9.75 or newer",
                                symbols[i].name);
        memcpy((char *)ret + symbols[i].offset, &symbol, sizeof(symbol));
    }
    return 0;
}

/* The caller has the lock. */
static int find(const char *soname, struct al_http_library *ret, struct al_error *err)
{
    void *handle = dlopen(soname ? soname : SONAME, RTLD_NOW | RTLD_LOCAL);
    int r;

    if (!handle)
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "an HTTP server needs libmicrohttpd; install " PACKAGE " (%s)",
                            dlerror());
    r = find_symbols(handle, ret, err);
    if (r < 0)
        dlclose(handle);
    return r;
}
#endif

int al_http_library_load(const char *soname, const struct al_http_library **ret,
                         struct al_error *err)
{
    struct al_http_library found = { .strict = false };
    int r;

    al_hold(&lock);
    *ret = &library;
    if (library.get_version && !soname)
        return 0;
    r = find(soname, &found, err);
    if (r < 0)
        return r;
    found.strict = found.get_version()[0] != '0';
    library = found;
    return 0;
}

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

    /* A client whose machine is gone is found, even on a stream that nothing is sent on. */
    if (set_flag(listening->fd, SOL_SOCKET, SO_KEEPALIVE) < 0 ||
        set_flag(listening->fd, SOL_SOCKET, SO_REUSEADDR) < 0 ||
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
