// SPDX-License-Identifier: Apache-2.0
/*
 * The list of tools of a session with mounted tools, and how clients learn that it has changed.
 *
 *   client   is told by                                       when
 *   legacy   notifications/tools/list_changed                 after its initialize
 *   modern   the same, with the id of its subscription        it sent subscriptions/listen
 *
 * A client is told once, and again only after it has listed the tools: a server that changes its
 * list all the time costs each client no more than it asks for.
 *
 * Threads: every function may be called from any thread.
 * Source: MCP "Tools"; 2026-07-28, "Subscriptions".
 */
#ifndef AL_MCP_LISTING_H
#define AL_MCP_LISTING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/str.h"

struct al_cancel;
struct al_message_writer;
struct al_mounted_list;
struct al_session;

/** The longest wait of the first tools/list for servers that start. */
#define AL_LISTING_WAIT_MS 2000

/** Subscriptions at once. */
#define AL_SUBSCRIPTIONS_MAX 16

struct al_listing {
    const struct al_session *session;
    struct al_message_writer *out;

    pthread_mutex_t lock;               /**< guards the members below */
    const struct al_mounted_list *list; /**< what `text` was made from */
    char *text;                         /**< the member "tools"; NULL: not made yet */
    bool is_listed;  /**< a list was sent, or is about to be, since the last notification */
    bool has_legacy; /**< a client has sent initialize */
    char *subscriptions[AL_SUBSCRIPTIONS_MAX]; /**< ids as JSON text */
    size_t nsubscriptions;
};

/** Does nothing for a session without mounted tools.  `session` and `out` are borrowed. */
void al_listing_init(struct al_listing *listing, const struct al_session *session,
                     struct al_message_writer *out);
void al_listing_clear(struct al_listing *listing);

/** Append the member "tools" of the result of tools/list.  Waits for servers that start, but not
 * for longer than AL_LISTING_WAIT_MS. */
void al_listing_add(struct al_listing *listing, struct al_cancel *cancel, struct al_str *out);

/** A legacy client has connected. */
void al_listing_set_legacy(struct al_listing *listing);

/**
 * Open a subscription and acknowledge it.
 *
 * @param id     Of the request, as JSON text.
 * @param wants  The client wants to hear about tools; otherwise it hears nothing.
 * @return false: there are too many, or one with this id.
 */
bool al_listing_subscribe(struct al_listing *listing, const char *id, bool wants);

/** End a subscription; unknown ids are ignored. */
void al_listing_unsubscribe(struct al_listing *listing, const char *id);

#endif
