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
#ifndef AL_SERVE_MCP_LISTING_H
#define AL_SERVE_MCP_LISTING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct al_cancel;
struct al_message_sink;
struct al_mounts;
struct al_offer;

/** The longest wait of the first tools/list for servers that start. */
#define AL_LISTING_WAIT_MS 2000

/** Subscriptions at once of one client, or of all modern clients of a token. */
#define AL_SUBSCRIPTIONS_MAX 16

/** Every listing of a server. */
struct al_listings {
    struct al_mounts *mounts;
    pthread_mutex_t lock; /**< guards the list, and the listings in it */
    struct al_listing *first;
};

/** What one client knows. */
struct al_listing {
    struct al_listings *listings;
    struct al_listing *next;
    struct al_offer *offer;
    struct al_message_sink *legacy; /**< of a client that has sent initialize, else NULL */
    bool is_listed; /**< a list was sent, or is about to be, since the last notification */
    struct al_subscription {
        char *id; /**< as JSON text */
        struct al_message_sink *sink;
        bool wants; /**< it is told of changes of the list of tools */
    } subscriptions[AL_SUBSCRIPTIONS_MAX];
    size_t nsubscriptions;
};

/** `mounts` is borrowed; NULL: there are no mounted tools, and nothing is ever told. */
void al_listings_init(struct al_listings *listings, struct al_mounts *mounts);

/** Only after the last listing was cleared. */
void al_listings_clear(struct al_listings *listings);

/** `listings` and `offer` are borrowed. */
void al_listing_init(struct al_listing *listing, struct al_listings *listings,
                     struct al_offer *offer);
void al_listing_clear(struct al_listing *listing);

/** Append the member "tools" of the result of tools/list.  Waits for servers that start, but not
 * for longer than AL_LISTING_WAIT_MS. */
void al_listing_add(struct al_listing *listing, struct al_cancel *cancel, struct al_str *out);

/** A legacy client has connected, and is told on this sink. */
void al_listing_set_legacy(struct al_listing *listing, struct al_message_sink *sink);

/**
 * Open a subscription and acknowledge it on its sink.
 *
 * @param id     Of the request, as JSON text.
 * @param wants  The client wants to hear about tools; otherwise it hears nothing.
 * @return false: there are too many, or the sink has one with this id.
 */
bool al_listing_subscribe(struct al_listing *listing, const char *id, struct al_message_sink *sink,
                          bool wants);

/** End the subscriptions with this id, or those of a sink, which is not used any more afterwards;
 * the other one is NULL. */
void al_listing_unsubscribe(struct al_listing *listing, const char *id,
                            const struct al_message_sink *sink);

/** End every subscription, and call `end` for the sink of each, with the lock of the listings. */
void al_listing_end(struct al_listing *listing, void (*end)(struct al_message_sink *sink));

#endif
