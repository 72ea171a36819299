// SPDX-License-Identifier: Apache-2.0
#include "mcp/http/events.h"

#include <limits.h>

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

void al_event_add_text(struct al_str *out, const char *id, const char *message, size_t len)
{
    if (id)
        al_str_addf(out, "id: %s\n", id);
    al_str_adds(out, "event: message\ndata: ");
    al_str_add(out, message, len);
    al_str_adds(out, "\n\n");
}

/* Milliseconds that a client waits before it resumes a stream. */
#define RETRY_MS 1000

void al_event_add_first(struct al_str *out, const char *id)
{
    al_str_addf(out, "id: %s\nretry: %d\ndata:\n\n", id, RETRY_MS);
}

char *al_event_make_id(unsigned long stream, unsigned long event)
{
    return al_asprintf("%lu-%lu", stream, event);
}

/* Read digits up to `end`; *at is moved behind it. */
static bool read_number(const char **at, char end, unsigned long *ret_number)
{
    const char *text = *at;
    unsigned long number = 0;

    while (*text >= '0' && *text <= '9' && number < ULONG_MAX / 10 - 1)
        number = 10 * number + (unsigned long)(*text++ - '0');
    if (text == *at || *text != end)
        return false;
    *ret_number = number;
    *at = text + (end != '\0');
    return true;
}

bool al_event_read_id(const char *id, unsigned long *ret_stream, unsigned long *ret_event)
{
    return read_number(&id, '-', ret_stream) && read_number(&id, '\0', ret_event);
}

static struct al_str *slot(struct al_events *events, unsigned long number)
{
    return &events->items[number % AL_EVENTS_MAX];
}

void al_events_clear(struct al_events *events)
{
    for (size_t i = 0; i < AL_EVENTS_MAX; i++)
        al_str_clear(&events->items[i]);
}

void al_events_forget_oldest(struct al_events *events)
{
    struct al_str *oldest = slot(events, events->last - events->count + 1);

    events->bytes -= oldest->len;
    al_str_clear(oldest);
    events->count--;
}

void al_events_push(struct al_events *events, struct al_str *event)
{
    while (events->count &&
           (events->count == AL_EVENTS_MAX || events->bytes + event->len > AL_EVENTS_MAX_BYTES))
        al_events_forget_oldest(events);
    events->last++;
    events->count++;
    events->bytes += event->len;
    *slot(events, events->last) = *event;
    *event = AL_STR_INIT;
}

bool al_events_has_after(const struct al_events *events, unsigned long number)
{
    return number <= events->last && events->last - number <= events->count;
}

const struct al_str *al_events_get(const struct al_events *events, unsigned long number)
{
    return &events->items[number % AL_EVENTS_MAX];
}
