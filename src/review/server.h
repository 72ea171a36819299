// SPDX-License-Identifier: Apache-2.0
/*
 * The socket on which `airlock review` reaches the questions of this process (review/message.h).
 *
 * It needs no thread of its own: some thread polls al_review_server_fd() and calls
 * al_review_server_run(), which never blocks.
 *
 * The load of a peer is bounded: AL_REVIEW_CONNECTIONS_MAX connections, for each the request that
 * is being read and the one message that it has not taken yet.
 */
#ifndef AL_REVIEW_SERVER_H
#define AL_REVIEW_SERVER_H

#include "base/error.h"
#include "base/str.h"
#include "review/queue.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Makes a link to the page that the process serves, see al_review_server_set_link(). */
struct al_review_page {
    char *(*make_link)(void *payload); /**< NULL: it serves none */
    void *payload;
};

struct al_review_connection {
    struct al_review_connection *next;
    struct al_review_queue *queue;
    const struct al_review_page *page; /**< borrowed */
    int fd;                            /**< does not block */
    struct al_str in;                  /**< a request that is not complete, and what follows it */
    struct al_str out;                 /**< what the peer has not taken */
    size_t nsent;                      /**< of `out` */
    bool lists;                        /**< the end of the list was not sent yet */
    bool attached;
    bool ends;     /**< once `out` is sent */
    uint64_t from; /**< serial of the first question that was not sent */
    /** The questions that an attached door was told about, and room for the next one. */
    char shown[AL_REVIEW_ENTRIES_MAX + 1][AL_REVIEW_ID_CHARS + 1];
    size_t nshown;
    char *text_of;       /**< the id whose whole text was asked for; NULL: none */
    int64_t text_ticket; /**< of that request */
};

/** Connections at once.  A new one takes the place of the oldest that is not attached. */
#define AL_REVIEW_CONNECTIONS_MAX 32

struct al_review_server;

/** The server of a queue, which is borrowed.  It has no socket yet.  NULL with errno when
 * descriptors ran out. */
struct al_review_server *al_review_server_new(struct al_review_queue *queue);

/**
 * Make the socket.  Threads: one that may create sockets, once.
 *
 * @param dirs  Directories in the order of preference; the next one is tried when one cannot be
 *              made.  Of the last one the parents are made too.
 * @return 0, or AL_ERR_EXECUTION; the queue then has no other doors.
 */
int al_review_server_listen(struct al_review_server *server, const struct al_strv *dirs,
                            struct al_error *err);

/**
 * From now on the process serves the page of the review: a program of the user that asks gets a
 * link to it.
 *
 * @param make_link  Called by the thread of al_review_server_run().  A link that opens the page
 *                   once, which the server wipes and frees; NULL: there is none.  The page is gone
 *                   with NULL as the function.
 *
 * Threads: that of al_review_server_run().
 */
void al_review_server_set_link(struct al_review_server *server, char *(*make_link)(void *payload),
                               void *payload);

/** Readable when al_review_server_run() has something to do.  Borrowed. */
int al_review_server_fd(const struct al_review_server *server);

/** Accept, read, answer, and end questions whose time is over.  Threads: one. */
void al_review_server_run(struct al_review_server *server);

/** Remove the socket's name, so that nobody comes any more.  Threads: any, also while another one
 * runs the server. */
void al_review_server_remove(struct al_review_server *server);

/** Remove the socket and close all connections.  NULL is fine.  No thread runs the server any more.
 */
void al_review_server_free(struct al_review_server *server);

/** Check the peer of a connected socket.  NULL: it may ask and answer; else why it may not, a
 * constant. */
const char *al_review_peer_check(int fd, int dir_fd);

/** Takes `fd` over. */
struct al_review_connection *al_review_connection_new(struct al_review_queue *queue,
                                                      const struct al_review_page *page, int fd);
void al_review_connection_free(struct al_review_connection *connection);

/** Read what there is, do what it asks for, write what the peer takes.  False: the connection is at
 * its end, and the caller frees it. */
bool al_review_connection_run(struct al_review_connection *connection);

#endif
