// SPDX-License-Identifier: Apache-2.0
/* serve/mcp/calls.h: the calls of several scopes share a quota of calls and of bytes of arguments.
 */
#include "serve/mcp/calls.h"

#include <sched.h>
#include <semaphore.h>

#include "base/json.h"
#include "call/call.h"
#include "tests/lib/assert.h"

/* Bytes that calls in flight may have, and of an object with an empty string. */
#define MAX_BYTES   1000u
#define EMPTY_BYTES (2 * AL_JSON_VALUE_BYTES + 1)

struct fixture {
    struct al_pool *pool;
    struct al_calls calls;
    struct al_session session;
    struct al_call_quota quota;
    struct al_call_scope scopes[2];
    int nids;
};

/* A call that has begun, or will. */
struct held {
    struct fixture *fixture;
    sem_t may_end;
};

static int set_up(void **state)
{
    struct fixture *fixture = al_calloc(1, sizeof(*fixture));

    assert_int_equal(al_pool_new(100, &fixture->pool, NULL), 0);
    al_calls_init(&fixture->calls,
                  &(struct al_calls_options){ .max = 100, .wake_fd = -1, .pool = fixture->pool });
    fixture->quota = (struct al_call_quota){ .max = 4, .max_bytes = MAX_BYTES };
    for (size_t i = 0; i < COUNT(fixture->scopes); i++) {
        al_call_scope_init(&fixture->scopes[i], &fixture->session);
        fixture->scopes[i].quota = &fixture->quota;
    }
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    al_pool_free(fixture->pool);
    assert_int_equal(fixture->quota.ninflight, 0);
    assert_int_equal(fixture->quota.nbytes, 0);
    al_calls_clear(&fixture->calls);
    free(fixture);
    return 0;
}

static void hold(void *payload, const struct al_result_extra *extra, struct al_cancel *cancel,
                 struct al_str *out)
{
    struct held *held = payload;

    (void)extra;
    (void)cancel;
    while (sem_wait(&held->may_end) != 0)
        continue;
    al_str_adds(out, "{}");
}

/* Start a call whose arguments count so many bytes.  NULL: it was refused. */
static struct held *add(struct fixture *fixture, size_t scope, size_t bytes)
{
    const size_t before = al_calls_count(&fixture->calls);
    struct held *held = al_calloc(1, sizeof(*held));
    struct al_call_spec spec = { .scope = &fixture->scopes[scope],
                                 .id = al_asprintf("%d", ++fixture->nids),
                                 .respond = hold,
                                 .payload = held,
                                 .input_required = AL_INPUT_REQUIRED_INIT };
    al_auto(al_freep) char *text = NULL;

    held->fixture = fixture;
    assert_int_equal(sem_init(&held->may_end, 0, 0), 0);
    if (bytes) {
        text = al_calloc(1, bytes - EMPTY_BYTES + 1);
        memset(text, 'x', bytes - EMPTY_BYTES);
        spec.arguments = al_json_object();
        al_json_set(spec.arguments, "a", al_json_string(text));
        assert_int_equal(al_json_bytes(spec.arguments), bytes);
    }
    al_calls_start(&fixture->calls, &spec);
    if (al_calls_count(&fixture->calls) > before)
        return held;
    free(held);
    return NULL;
}

/* Let a call end, and wait until it has. */
static void end(struct held *held)
{
    struct al_calls *calls;
    size_t before;

    assert_non_null(held);
    calls = &held->fixture->calls;
    before = al_calls_count(calls);
    assert_int_equal(sem_post(&held->may_end), 0);
    while (al_calls_count(calls) == before)
        (void)sched_yield();
    (void)sem_destroy(&held->may_end);
    free(held);
}

static void bytes_are_counted_up_to_the_limit(void **state)
{
    struct fixture *fixture = *state;

    for (size_t bytes = MAX_BYTES - 1; bytes <= MAX_BYTES + 1; bytes++) {
        struct held *first = add(fixture, 0, 400);
        struct held *second = add(fixture, 0, bytes - 400);

        if (bytes <= MAX_BYTES)
            end(second);
        else
            assert_null(second);
        end(first);
    }
}

static void scopes_share_the_bytes(void **state)
{
    struct fixture *fixture = *state;
    struct held *first = add(fixture, 0, 600);

    assert_null(add(fixture, 1, 600));
    end(first);
    end(add(fixture, 1, 600)); /* what has ended does not count */
}

static void a_call_alone_may_have_more(void **state)
{
    struct fixture *fixture = *state;
    struct held *large = add(fixture, 0, 5 * MAX_BYTES);

    assert_null(add(fixture, 1, 200));
    end(large);
    end(add(fixture, 1, 200));
}

static void calls_without_arguments_count_as_calls(void **state)
{
    struct fixture *fixture = *state;
    struct held *calls[4];

    for (size_t i = 0; i < COUNT(calls); i++)
        calls[i] = add(fixture, i % 2, i ? 0 : MAX_BYTES);
    assert_null(add(fixture, 0, 0));
    for (size_t i = 0; i < COUNT(calls); i++)
        end(calls[i]);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(bytes_are_counted_up_to_the_limit),
        TEST(scopes_share_the_bytes),
        TEST(a_call_alone_may_have_more),
        TEST(calls_without_arguments_count_as_calls),
    };

    return cmocka_run_group_tests_name("mcp/quota", tests, NULL, NULL);
}
