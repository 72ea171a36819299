// SPDX-License-Identifier: Apache-2.0
/* mcp/calls.h: the calls of several scopes share a quota of calls and of bytes of arguments. */
#include "mcp/calls.h"

#include "tests/lib/assert.h"
#include "tool/call.h"
#include "util/json.h"

/* Bytes that calls in flight may have, and of an object with an empty string. */
#define MAX_BYTES   1000u
#define EMPTY_BYTES (2 * AL_JSON_VALUE_BYTES + 1)

struct fixture {
    struct al_calls calls;
    struct al_session session;
    struct al_call_quota quota;
    struct al_call_scope scopes[2];
    int nids;
};

static int set_up(void **state)
{
    struct fixture *fixture = al_calloc(1, sizeof(*fixture));

    assert_int_equal(al_calls_init(&fixture->calls,
                                   &(struct al_calls_options){ .max = 100, .wake_fd = -1 }, NULL),
                     0);
    fixture->quota = (struct al_call_quota){ .max = 4, .max_bytes = MAX_BYTES };
    for (size_t i = 0; i < COUNT(fixture->scopes); i++) {
        al_call_scope_init(&fixture->scopes[i], &fixture->session, NULL);
        fixture->scopes[i].quota = &fixture->quota;
    }
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(fixture->quota.ninflight, 0);
    assert_int_equal(fixture->quota.nbytes, 0);
    for (size_t i = 0; i < COUNT(fixture->scopes); i++)
        al_call_scope_clear(&fixture->scopes[i]);
    al_calls_clear(&fixture->calls);
    free(fixture);
    return 0;
}

/* Register a call whose arguments count so many bytes. */
static struct al_inflight *add(struct fixture *fixture, size_t scope, size_t bytes)
{
    struct al_call_spec spec = { .scope = &fixture->scopes[scope],
                                 .id = al_asprintf("%d", ++fixture->nids),
                                 .input_required = AL_INPUT_REQUIRED_INIT };
    al_auto(al_freep) char *text = NULL;

    if (bytes) {
        text = al_calloc(1, bytes - EMPTY_BYTES + 1);
        memset(text, 'x', bytes - EMPTY_BYTES);
        spec.arguments = al_json_object();
        al_json_set(spec.arguments, "a", al_json_string(text));
        assert_int_equal(al_json_bytes(spec.arguments), bytes);
    }
    return al_calls_register(&fixture->calls, &spec);
}

static void end(struct al_inflight *call)
{
    assert_non_null(call);
    al_calls_refuse(call, "enough");
}

static void bytes_are_counted_up_to_the_limit(void **state)
{
    struct fixture *fixture = *state;

    for (size_t bytes = MAX_BYTES - 1; bytes <= MAX_BYTES + 1; bytes++) {
        struct al_inflight *first = add(fixture, 0, 400);
        struct al_inflight *second = add(fixture, 0, bytes - 400);

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
    struct al_inflight *first = add(fixture, 0, 600);

    assert_null(add(fixture, 1, 600));
    end(first);
    end(add(fixture, 1, 600)); /* what has ended does not count */
}

static void a_call_alone_may_have_more(void **state)
{
    struct fixture *fixture = *state;
    struct al_inflight *large = add(fixture, 0, 5 * MAX_BYTES);

    assert_null(add(fixture, 1, 200));
    end(large);
    end(add(fixture, 1, 200));
}

static void calls_without_arguments_count_as_calls(void **state)
{
    struct fixture *fixture = *state;
    struct al_inflight *calls[4];

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
