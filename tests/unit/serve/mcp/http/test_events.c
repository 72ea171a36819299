// SPDX-License-Identifier: Apache-2.0
/* What a stream keeps of its events, and the ids it can be resumed from. */
#include "serve/mcp/http/private.h"
#include "tests/lib/assert.h"

static void push(struct al_events *events, size_t len)
{
    struct al_str event = AL_STR_INIT;

    while (event.len < len)
        al_str_addc(&event, 'x');
    al_events_push(events, &event);
    assert_int_equal(event.len, 0);
}

static void test_text(void **state)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    al_event_add_first(&out, "3-0");
    al_event_add_text(&out, "3-1", "{}", 2);
    al_event_add_text(&out, NULL, "{}", 2);
    assert_string_equal(out.buf, "id: 3-0\nretry: 1000\ndata:\n\n"
                                 "id: 3-1\nevent: message\ndata: {}\n\n"
                                 "event: message\ndata: {}\n\n");
}

static void test_ids(void **state)
{
    static const char *const bad[] = { "",
                                       "1",
                                       "-",
                                       "1-",
                                       "-1",
                                       "1-2-3",
                                       "1 -2",
                                       " 1-2",
                                       "1-2 ",
                                       "+1-2",
                                       "1--2",
                                       "x-1",
                                       "99999999999999999999999-1",
                                       "1-99999999999999999999999" };
    al_auto(al_freep) char *id = al_event_make_id(12, 345);
    unsigned long stream = 0, event = 0;

    (void)state;
    assert_string_equal(id, "12-345");
    assert_true(al_event_read_id(id, &stream, &event));
    assert_int_equal(stream, 12);
    assert_int_equal(event, 345);
    for (size_t i = 0; i < AL_COUNT(bad); i++)
        assert_false(al_event_read_id(bad[i], &stream, &event));
}

/* One event below the limit, at it, and above it. */
static void test_count(void **state)
{
    struct al_events events = { .last = 0 };

    (void)state;
    assert_true(al_events_has_after(&events, 0));
    assert_false(al_events_has_after(&events, 1));
    for (size_t i = 1; i <= AL_EVENTS_MAX; i++) {
        push(&events, i);
        assert_true(al_events_has_after(&events, 0));
    }
    assert_int_equal(al_events_get(&events, 1)->len, 1);
    push(&events, 7);
    assert_false(al_events_has_after(&events, 0));
    assert_true(al_events_has_after(&events, 1));
    assert_int_equal(al_events_get(&events, 2)->len, 2);
    assert_int_equal(al_events_get(&events, AL_EVENTS_MAX + 1)->len, 7);
    assert_true(al_events_has_after(&events, AL_EVENTS_MAX + 1));
    assert_false(al_events_has_after(&events, AL_EVENTS_MAX + 2));
    al_events_clear(&events);
}

/* The bytes are limited too; the newest event is kept whatever its size. */
static void test_bytes(void **state)
{
    struct al_events events = { .last = 0 };

    (void)state;
    push(&events, AL_EVENTS_MAX_BYTES / 2);
    push(&events, AL_EVENTS_MAX_BYTES / 2 - 1);
    push(&events, 1);
    assert_true(al_events_has_after(&events, 0));
    push(&events, 1);
    assert_false(al_events_has_after(&events, 0));
    assert_true(al_events_has_after(&events, 1));
    push(&events, AL_EVENTS_MAX_BYTES + 1);
    assert_false(al_events_has_after(&events, 3));
    assert_true(al_events_has_after(&events, 4));
    assert_int_equal(al_events_get(&events, 5)->len, AL_EVENTS_MAX_BYTES + 1);
    push(&events, 1);
    assert_true(al_events_has_after(&events, 5));
    assert_false(al_events_has_after(&events, 4));
    al_events_clear(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
