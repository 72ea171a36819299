// SPDX-License-Identifier: Apache-2.0
#include "mcp/listing.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/tools_list.h"
#include "tool/call.h"
#include "tool/mounts.h"
#include "wire/writer.h"

#define CHANGED "\"method\":\"notifications/tools/list_changed\""

/* Caller holds the lock. */
static void send_for(const struct al_listing *listing, const char *id, const char *method,
                     const char *more)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line,
                "{\"jsonrpc\":\"2.0\",%s,\"params\":{\"_meta\":{"
                "\"io.modelcontextprotocol/subscriptionId\":%s}%s}}",
                method, id, more);
    al_message_writer_send(listing->out, &line);
}

/* Runs on a thread of a server, whenever its list has changed. */
static void on_change(void *payload)
{
    struct al_listing *listing = payload;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    (void)pthread_mutex_lock(&listing->lock);
    if (listing->is_listed && listing->has_legacy) {
        al_str_adds(&line, "{\"jsonrpc\":\"2.0\"," CHANGED "}");
        al_message_writer_send(listing->out, &line);
    }
    for (size_t i = 0; listing->is_listed && i < listing->nsubscriptions; i++)
        send_for(listing, listing->subscriptions[i], CHANGED, "");
    listing->is_listed = false;
    (void)pthread_mutex_unlock(&listing->lock);
}

void al_listing_init(struct al_listing *listing, const struct al_session *session,
                     struct al_message_writer *out)
{
    *listing = (struct al_listing){ .session = session, .out = out };
    (void)pthread_mutex_init(&listing->lock, NULL);
    al_mounts_watch(session->mounts, on_change, listing);
}

void al_listing_clear(struct al_listing *listing)
{
    al_mounts_watch(listing->session->mounts, NULL, NULL);
    al_mounted_list_unref(listing->session->mounts, listing->list);
    for (size_t i = 0; i < listing->nsubscriptions; i++)
        free(listing->subscriptions[i]);
    free(listing->text);
    (void)pthread_mutex_destroy(&listing->lock);
}

/* Caller holds the lock.  A list that is referred to keeps its address. */
static void make_text(struct al_listing *listing, const struct al_mounted_list *now)
{
    struct al_mounts *mounts = listing->session->mounts;

    if (listing->text && now == listing->list) {
        al_mounted_list_unref(mounts, now);
        return;
    }
    free(listing->text);
    listing->text = al_tools_list_text(listing->session, now);
    al_mounted_list_unref(mounts, listing->list);
    listing->list = now;
}

void al_listing_add(struct al_listing *listing, struct al_cancel *cancel, struct al_str *out)
{
    struct al_mounts *mounts = listing->session->mounts;

    al_mounts_await(mounts, AL_LISTING_WAIT_MS, cancel);
    /* A change from here on is not in this list for sure, so it is told. */
    (void)pthread_mutex_lock(&listing->lock);
    listing->is_listed = true;
    (void)pthread_mutex_unlock(&listing->lock);

    const struct al_mounted_list *now = al_mounts_list(mounts);

    (void)pthread_mutex_lock(&listing->lock);
    make_text(listing, now);
    al_str_adds(out, listing->text);
    (void)pthread_mutex_unlock(&listing->lock);
}

void al_listing_set_legacy(struct al_listing *listing)
{
    (void)pthread_mutex_lock(&listing->lock);
    listing->has_legacy = true;
    (void)pthread_mutex_unlock(&listing->lock);
}

/* Caller holds the lock.  The place of a subscription; its end: there is none. */
static size_t find(const struct al_listing *listing, const char *id)
{
    size_t at = 0;

    while (at < listing->nsubscriptions && strcmp(listing->subscriptions[at], id) != 0)
        at++;
    return at;
}

bool al_listing_subscribe(struct al_listing *listing, const char *id, bool wants)
{
    bool opens;

    (void)pthread_mutex_lock(&listing->lock);
    opens = find(listing, id) == listing->nsubscriptions &&
            listing->nsubscriptions < AL_SUBSCRIPTIONS_MAX;
    if (opens) {
        send_for(listing, id, "\"method\":\"notifications/subscriptions/acknowledged\"",
                 wants ? ",\"notifications\":{\"toolsListChanged\":true}"
                       : ",\"notifications\":{}");
        if (wants)
            listing->subscriptions[listing->nsubscriptions++] = al_strdup(id);
    }
    (void)pthread_mutex_unlock(&listing->lock);
    return opens;
}

void al_listing_unsubscribe(struct al_listing *listing, const char *id)
{
    size_t at;

    (void)pthread_mutex_lock(&listing->lock);
    at = find(listing, id);
    if (at < listing->nsubscriptions) {
        free(listing->subscriptions[at]);
        listing->subscriptions[at] = listing->subscriptions[--listing->nsubscriptions];
    }
    (void)pthread_mutex_unlock(&listing->lock);
}
