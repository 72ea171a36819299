// SPDX-License-Identifier: Apache-2.0
#include "mcp/http/event_store.h"

#include "mcp/http/stream.h"

void al_event_store_init(struct al_event_store *store, size_t max_bytes)
{
    store->max_bytes = max_bytes;
    store->oldest = store->newest = NULL;
    atomic_init(&store->bytes, 0);
    (void)pthread_mutex_init(&store->lock, NULL);
}

void al_event_store_clear(struct al_event_store *store)
{
    (void)pthread_mutex_destroy(&store->lock);
}

/* Caller holds the lock of the stream. */
static void count(struct al_event_store *store, size_t before, size_t after)
{
    (void)atomic_fetch_add(&store->bytes, after);
    (void)atomic_fetch_sub(&store->bytes, before);
}

void al_event_store_push(struct al_event_store *store, struct al_stream *stream,
                         struct al_str *event)
{
    const size_t before = stream->events.bytes;

    al_events_push(&stream->events, event);
    count(store, before, stream->events.bytes);
}

void al_event_store_end(struct al_event_store *store, struct al_stream *stream)
{
    (void)pthread_mutex_lock(&store->lock);
    if (!stream->is_stored && stream->events.count) {
        stream->is_stored = true;
        stream->older = store->newest;
        if (store->newest)
            store->newest->newer = stream;
        else
            store->oldest = stream;
        store->newest = stream;
    }
    (void)pthread_mutex_unlock(&store->lock);
}

/* Caller holds the lock of the store. */
static void unlink_stream(struct al_event_store *store, struct al_stream *stream)
{
    if (stream->older)
        stream->older->newer = stream->newer;
    else
        store->oldest = stream->newer;
    if (stream->newer)
        stream->newer->older = stream->older;
    else
        store->newest = stream->older;
    stream->older = stream->newer = NULL;
    stream->is_stored = false;
}

void al_event_store_remove(struct al_event_store *store, struct al_stream *stream)
{
    (void)pthread_mutex_lock(&store->lock);
    if (stream->is_stored)
        unlink_stream(store, stream);
    (void)pthread_mutex_unlock(&store->lock);
    count(store, stream->events.bytes, 0);
}

/* Take the oldest ended stream but `except`, with a reference; NULL: there is none.  One whose last
 * reference is just being dropped waits for the lock in al_event_store_remove(). */
static struct al_stream *take_oldest(struct al_event_store *store, const struct al_stream *except)
{
    struct al_stream *stream;

    (void)pthread_mutex_lock(&store->lock);
    stream = store->oldest;
    while (stream && (stream == except || !al_stream_try_ref(stream)))
        stream = stream->newer;
    if (stream)
        unlink_stream(store, stream);
    (void)pthread_mutex_unlock(&store->lock);
    return stream;
}

static bool is_full(const struct al_event_store *store)
{
    return atomic_load(&store->bytes) > store->max_bytes;
}

/* Caller holds the lock of the stream. */
static void forget_oldest(struct al_event_store *store, struct al_stream *stream)
{
    const size_t before = stream->events.bytes;

    al_events_forget_oldest(&stream->events);
    count(store, before, stream->events.bytes);
}

void al_event_store_trim(struct al_event_store *store, struct al_stream *stream)
{
    struct al_stream *oldest;

    while (is_full(store) && (oldest = take_oldest(store, stream))) {
        (void)pthread_mutex_lock(&oldest->lock);
        while (oldest->events.count)
            forget_oldest(store, oldest);
        (void)pthread_mutex_unlock(&oldest->lock);
        al_stream_unref(oldest);
    }
    if (!is_full(store))
        return;
    (void)pthread_mutex_lock(&stream->lock);
    while (is_full(store) && stream->events.count > 1)
        forget_oldest(store, stream);
    (void)pthread_mutex_unlock(&stream->lock);
}
