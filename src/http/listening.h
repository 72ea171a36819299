// SPDX-License-Identifier: Apache-2.0
/* A socket that listens, and the file of a Unix socket. */
#ifndef AL_HTTP_LISTENING_H
#define AL_HTTP_LISTENING_H

#include <stdbool.h>
#include <sys/types.h>

#include "http/address.h"
#include "util/error.h"

/** A socket that listens.  The path of a Unix socket is relative to the working directory if it was
 * given so. */
struct al_http_listening {
    struct al_http_address address; /**< with the real port */
    bool tls;
    int fd;    /**< not blocking; -1: closed */
    dev_t dev; /**< the file of a Unix socket, to remove no other */
    ino_t ino;
};

/** Listen.  See al_http_server_new() for Unix sockets.  0 or AL_ERR_EXECUTION. */
int al_http_listening_open(const struct al_http_address *address, bool tls,
                           struct al_http_listening *ret, struct al_error *err);

/** Close the socket, and remove the file of a Unix socket if it is still that file.  Again:
 * nothing. */
void al_http_listening_close(struct al_http_listening *listening);

#endif
