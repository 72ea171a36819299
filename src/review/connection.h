// SPDX-License-Identifier: Apache-2.0
/* One door that is connected to the queue: what it asked for, and what it was told. */
#ifndef AL_REVIEW_CONNECTION_H
#define AL_REVIEW_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "review/queue.h"
#include "util/str.h"

/** A question that an attached door was told about. */
struct al_review_shown {
    uint64_t serial;
    char id[AL_REVIEW_ID_CHARS + 1];
};

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
    struct al_review_shown shown[AL_REVIEW_ENTRIES_MAX];
    size_t nshown;
    uint64_t text_of;    /**< serial of the question whose whole text was asked for; 0: none */
    int64_t text_ticket; /**< of that request */
    bool has_text;       /**< `text` is there */
    struct al_str text;
    size_t ntext; /**< what of it was sent */
};

/** Takes `fd` over. */
struct al_review_connection *al_review_connection_new(struct al_review_queue *queue,
                                                      const struct al_review_page *page, int fd);
void al_review_connection_free(struct al_review_connection *connection);

/** Read what there is, do what it asks for, write what the peer takes.  False: the connection is at
 * its end, and the caller frees it. */
bool al_review_connection_run(struct al_review_connection *connection);

/** Refuse the peer: say why, then end. */
void al_review_connection_refuse(struct al_review_connection *connection, const char *why);

/** The events to wait for, of epoll. */
uint32_t al_review_connection_events(const struct al_review_connection *connection);

#endif
