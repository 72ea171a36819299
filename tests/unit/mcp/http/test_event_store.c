// SPDX-License-Identifier: Apache-2.0
/* mcp/http/event_store.h: what streams keep together, and what is forgotten first. */
#include "mcp/http/private.h"

#include "tests/lib/assert.h"
#include "util/mem.h"

#define MAX 100

static struct al_stream *make(struct al_event_store *store)
{
    struct al_stream *stream = al_stream_new(NULL);

    stream->store = store;
    return stream;
}

static void push(struct al_stream *stream, size_t len)
{
    struct al_str event = AL_STR_INIT;

    while (event.len < len)
        al_str_addc(&event, 'x');
    al_event_store_push(stream->store, stream, &event);
    al_event_store_trim(stream->store, stream);
}

/* Whether everything that was sent is kept. */
static bool keeps_all(const struct al_stream *stream)
{
    return al_events_has_after(&stream->events, 0);
}

/* At the limit all is kept; beyond it the oldest ended stream is forgotten, and then the next. */
static void ended_streams_are_forgotten_first(void **state)
{
    struct al_event_store store;
    struct al_stream *streams[4];

    (void)state;
    al_event_store_init(&store, MAX);
    for (size_t i = 0; i < COUNT(streams); i++)
        streams[i] = make(&store);
    push(streams[0], 10);
    push(streams[1], 20);
    push(streams[2], 30);
    al_event_store_end(&store, streams[2]);
    al_event_store_end(&store, streams[1]);
    al_event_store_end(&store, streams[1]);
    push(streams[3], 39);
    push(streams[3], 1);
    for (size_t i = 0; i < COUNT(streams); i++)
        assert_true(keeps_all(streams[i]));
    assert_int_equal(store.bytes, MAX);
    push(streams[3], 1);
    assert_false(keeps_all(streams[2]));
    assert_true(al_events_has_after(&streams[2]->events, 1)); /* there was no other */
    assert_int_equal(store.bytes, MAX - 29);
    push(streams[0], 29);
    assert_true(keeps_all(streams[1]));
    push(streams[0], 1);
    assert_false(keeps_all(streams[1]));
    assert_true(keeps_all(streams[0]) && keeps_all(streams[3]));
    for (size_t i = 0; i < COUNT(streams); i++)
        al_stream_unref(streams[i]);
    assert_int_equal(store.bytes, 0);
    assert_null(store.oldest);
    assert_null(store.newest);
    al_event_store_clear(&store);
}

/* Without an ended stream the one that sends forgets its own, but not the newest. */
static void a_stream_forgets_its_own(void **state)
{
    struct al_event_store store;
    struct al_stream *quiet, *loud;

    (void)state;
    al_event_store_init(&store, MAX);
    quiet = make(&store);
    loud = make(&store);
    push(quiet, 50);
    push(loud, 25);
    push(loud, 25);
    assert_true(keeps_all(loud));
    push(loud, 1);
    assert_false(keeps_all(loud));
    assert_true(al_events_has_after(&loud->events, 1));
    push(loud, MAX);
    assert_false(al_events_has_after(&loud->events, 2));
    assert_true(al_events_has_after(&loud->events, 3));
    al_event_store_end(&store, loud);
    al_event_store_trim(&store, loud);
    assert_true(al_events_has_after(&loud->events, 3));
    assert_true(keeps_all(quiet));
    push(quiet, 1);
    assert_false(al_events_has_after(&loud->events, 3));
    assert_true(keeps_all(quiet));
    assert_int_equal(store.bytes, 51);
    al_stream_unref(quiet);
    al_stream_unref(loud);
    assert_int_equal(store.bytes, 0);
    al_event_store_clear(&store);
}

/* Streams that are freed leave the list, wherever they are in it. */
static void freed_streams_are_not_found(void **state)
{
    struct al_event_store store;
    struct al_stream *streams[3], *last;

    (void)state;
    for (size_t first = 0; first < COUNT(streams); first++) {
        al_event_store_init(&store, MAX);
        last = make(&store);
        for (size_t i = 0; i < COUNT(streams); i++) {
            streams[i] = make(&store);
            push(streams[i], 30);
            al_event_store_end(&store, streams[i]);
        }
        al_stream_unref(streams[first]);
        assert_int_equal(store.bytes, 60);
        push(last, 41);
        assert_int_equal(store.bytes, 71);
        push(last, 30);
        assert_int_equal(store.bytes, 71);
        assert_null(store.oldest);
        for (size_t i = 1; i < COUNT(streams); i++)
            al_stream_unref(streams[(first + i) % COUNT(streams)]);
        al_stream_unref(last);
        al_event_store_clear(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ended_streams_are_forgotten_first),
        cmocka_unit_test(a_stream_forgets_its_own),
        cmocka_unit_test(freed_streams_are_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
