// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/sink.h"
#include "call/call.h"
#include "serve/mcp/offer.h"
#include "tools/upstream/mounts.h"

#define CHANGED "\"method\":\"notifications/tools/list_changed\""

/* Caller holds the lock. */
static void send_for(struct al_message_sink *sink, const char *id, const char *method,
                     const char *more)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line,
                "{\"jsonrpc\":\"2.0\",%s,\"params\":{\"_meta\":{"
                "\"io.modelcontextprotocol/subscriptionId\":%s}%s}}",
                method, id, more);
    al_sink_send(sink, &line);
}

/* Caller holds the lock. */
static void tell(struct al_listing *listing)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (!listing->is_listed)
        return;
    if (listing->legacy) {
        al_str_adds(&line, "{\"jsonrpc\":\"2.0\"," CHANGED "}");
        al_sink_send(listing->legacy, &line);
    }
    for (size_t i = 0; i < listing->nsubscriptions; i++)
        if (listing->subscriptions[i].wants)
            send_for(listing->subscriptions[i].sink, listing->subscriptions[i].id, CHANGED, "");
    listing->is_listed = false;
}

/* Runs on a thread of a server, whenever its list has changed. */
static void on_change(void *payload)
{
    struct al_listings *listings = payload;

    al_hold(&listings->lock);
    for (struct al_listing *listing = listings->first; listing; listing = listing->next)
        tell(listing);
}

void al_listings_init(struct al_listings *listings, struct al_mounts *mounts)
{
    *listings = (struct al_listings){ .mounts = mounts };
    (void)pthread_mutex_init(&listings->lock, NULL);
    al_mounts_watch(mounts, on_change, listings);
}

void al_listings_clear(struct al_listings *listings)
{
    al_mounts_watch(listings->mounts, NULL, NULL);
    (void)pthread_mutex_destroy(&listings->lock);
}

void al_listing_init(struct al_listing *listing, struct al_listings *listings,
                     struct al_offer *offer)
{
    *listing = (struct al_listing){ .listings = listings, .offer = offer };
    al_hold(&listings->lock);
    listing->next = listings->first;
    listings->first = listing;
}

void al_listing_clear(struct al_listing *listing)
{
    struct al_listing **at;

    (void)pthread_mutex_lock(&listing->listings->lock);
    for (at = &listing->listings->first; *at != listing; at = &(*at)->next)
        ;
    *at = listing->next;
    (void)pthread_mutex_unlock(&listing->listings->lock);
    for (size_t i = 0; i < listing->nsubscriptions; i++)
        free(listing->subscriptions[i].id);
}

void al_listing_add(struct al_listing *listing, struct al_cancel *cancel, struct al_str *out)
{
    struct al_mounts *mounts = listing->listings->mounts;
    const struct al_mounted_list *now;
    al_auto(al_freep) char *text = NULL;

    al_mounts_await(mounts, AL_LISTING_WAIT_MS, cancel);
    /* A change from here on is not in this list for sure, so it is told. */
    (void)pthread_mutex_lock(&listing->listings->lock);
    listing->is_listed = true;
    (void)pthread_mutex_unlock(&listing->listings->lock);
    now = al_mounts_list(mounts);
    text = al_tools_list_text(listing->offer->session, now);
    al_str_adds(out, text);
    al_mounted_list_free(now);
}

void al_listing_set_legacy(struct al_listing *listing, struct al_message_sink *sink)
{
    al_hold(&listing->listings->lock);
    listing->legacy = sink;
}

/* Caller holds the lock.  The place of a subscription; its end: there is none. */
static size_t find(const struct al_listing *listing, const char *id,
                   const struct al_message_sink *sink)
{
    size_t at = 0;

    while (at < listing->nsubscriptions && ((sink && listing->subscriptions[at].sink != sink) ||
                                            (id && strcmp(listing->subscriptions[at].id, id) != 0)))
        at++;
    return at;
}

/* Caller holds the lock. */
static void drop(struct al_listing *listing, size_t at)
{
    free(listing->subscriptions[at].id);
    listing->subscriptions[at] = listing->subscriptions[--listing->nsubscriptions];
}

bool al_listing_subscribe(struct al_listing *listing, const char *id, struct al_message_sink *sink,
                          bool wants)
{
    bool opens;

    al_hold(&listing->listings->lock);
    opens = find(listing, id, sink) == listing->nsubscriptions &&
            listing->nsubscriptions < AL_SUBSCRIPTIONS_MAX;
    if (opens) {
        send_for(sink, id, "\"method\":\"notifications/subscriptions/acknowledged\"",
                 wants ? ",\"notifications\":{\"toolsListChanged\":true}"
                       : ",\"notifications\":{}");
        listing->subscriptions[listing->nsubscriptions++] =
            (struct al_subscription){ al_strdup(id), sink, wants };
    }
    return opens;
}

void al_listing_unsubscribe(struct al_listing *listing, const char *id,
                            const struct al_message_sink *sink)
{
    size_t at;

    al_hold(&listing->listings->lock);
    while ((at = find(listing, id, sink)) < listing->nsubscriptions)
        drop(listing, at);
}

void al_listing_end(struct al_listing *listing, void (*end)(struct al_message_sink *sink))
{
    al_hold(&listing->listings->lock);
    while (listing->nsubscriptions) {
        end(listing->subscriptions[listing->nsubscriptions - 1].sink);
        drop(listing, listing->nsubscriptions - 1);
    }
}
