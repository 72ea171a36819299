// SPDX-License-Identifier: Apache-2.0
/* serve/mcp/request_state.h: only an authentic, unexpired and unspent state counts. */
#include "serve/mcp/request_state.h"

#include "base/str.h"
#include "tests/lib/assert.h"

static int64_t now_ms;

static int64_t clock_ms(void)
{
    return now_ms;
}

static const struct al_request_state_digest call = { { 1, 2, 3 } };
static const struct al_request_state_digest shown = { { 4, 5, 6 } };

static int setup(void **state)
{
    struct al_request_states *request_states = al_malloc(sizeof(*request_states));

    assert_int_equal(al_request_states_init(request_states, NULL), 0);
    request_states->clock_ms = clock_ms;
    now_ms = 1000000;
    *state = request_states;
    return 0;
}

static int teardown(void **state)
{
    al_request_states_clear(*state);
    free(*state);
    return 0;
}

static struct al_request_state issue(struct al_request_states *request_states)
{
    char text[AL_REQUEST_STATE_CHARS + 1];
    struct al_request_state request_state;

    assert_int_equal(al_request_state_issue(request_states, &call, &shown, text, NULL), 0);
    assert_true(al_request_state_read(request_states, text, strlen(text), &request_state));
    return request_state;
}

static void reads_what_it_issued(void **state)
{
    struct al_request_states *request_states = *state;
    struct al_request_state request_state = issue(request_states), another = issue(request_states);

    assert_memory_equal(&request_state.call, &call, sizeof(call));
    assert_memory_equal(&request_state.shown, &shown, sizeof(shown));
    assert_int_equal(request_state.issued_ms, now_ms);
    assert_int_equal(another.number, request_state.number + 1);
}

static void says_nothing_about_what_it_is_bound_to(void **state)
{
    struct al_request_states *request_states = *state;
    char text[AL_REQUEST_STATE_CHARS + 1];

    assert_int_equal(al_request_state_issue(request_states, &call, &shown, text, NULL), 0);
    assert_int_equal(strlen(text), AL_REQUEST_STATE_CHARS);
    assert_int_equal(
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
        AL_REQUEST_STATE_CHARS);
}

static void refuses_every_changed_character(void **state)
{
    static const char others[] = "ABCDabcd0189-_+/= \n\t\x7f\x80\xff";
    struct al_request_states *request_states = *state;
    char text[AL_REQUEST_STATE_CHARS + 1];
    struct al_request_state request_state;

    assert_int_equal(al_request_state_issue(request_states, &call, &shown, text, NULL), 0);
    for (size_t i = 0; i < AL_REQUEST_STATE_CHARS; i++) {
        char right = text[i];

        for (size_t k = 0; k < sizeof(others); k++) { /* its NUL too */
            text[i] = others[k];
            assert_true(al_request_state_read(request_states, text, AL_REQUEST_STATE_CHARS,
                                              &request_state) == (others[k] == right));
        }
        text[i] = right;
    }
    assert_true(
        al_request_state_read(request_states, text, AL_REQUEST_STATE_CHARS, &request_state));
}

static void refuses_every_changed_bit(void **state)
{
    struct al_request_states *request_states = *state;
    char text[AL_REQUEST_STATE_CHARS + 1];
    struct al_request_state request_state;

    assert_int_equal(al_request_state_issue(request_states, &call, &shown, text, NULL), 0);
    for (size_t i = 0; i < AL_REQUEST_STATE_CHARS; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            text[i] = (char)(text[i] ^ (1 << bit));
            assert_false(al_request_state_read(request_states, text, AL_REQUEST_STATE_CHARS,
                                               &request_state));
            text[i] = (char)(text[i] ^ (1 << bit));
        }
}

static void refuses_other_lengths(void **state)
{
    struct al_request_states *request_states = *state;
    char text[AL_REQUEST_STATE_CHARS + 3] = { 0 };
    struct al_request_state request_state;

    assert_int_equal(al_request_state_issue(request_states, &call, &shown, text, NULL), 0);
    text[AL_REQUEST_STATE_CHARS] = '=';
    for (size_t len = 0; len < sizeof(text); len++) {
        al_auto(al_freep) char *exact = al_strndup(text, len);

        assert_true(al_request_state_read(request_states, exact, len, &request_state) ==
                    (len == AL_REQUEST_STATE_CHARS));
    }
}

static void refuses_states_of_another_process(void **state)
{
    struct al_request_states *request_states = *state;
    void *others = NULL;
    char text[AL_REQUEST_STATE_CHARS + 1];
    struct al_request_state request_state;

    setup(&others);
    assert_int_equal(al_request_state_issue(others, &call, &shown, text, NULL), 0);
    assert_true(al_request_state_read(others, text, AL_REQUEST_STATE_CHARS, &request_state));
    assert_false(
        al_request_state_read(request_states, text, AL_REQUEST_STATE_CHARS, &request_state));
    teardown(&others);
}

static void counts_until_it_expires(void **state)
{
    static const int64_t ages[] = { 0,
                                    1,
                                    AL_REQUEST_STATE_LIFETIME_MS - 1,
                                    AL_REQUEST_STATE_LIFETIME_MS,
                                    AL_REQUEST_STATE_LIFETIME_MS + 1,
                                    INT32_MAX };
    struct al_request_states *request_states = *state;

    for (size_t i = 0; i < COUNT(ages); i++) {
        struct al_request_state request_state = issue(request_states);

        now_ms += ages[i];
        assert_true(al_request_state_spend(request_states, &request_state) ==
                    (ages[i] < AL_REQUEST_STATE_LIFETIME_MS));
    }
}

static void is_spent_once(void **state)
{
    struct al_request_states *request_states = *state;
    struct al_request_state request_state = issue(request_states), another = issue(request_states);

    assert_true(al_request_state_spend(request_states, &request_state));
    assert_false(al_request_state_spend(request_states, &request_state));
    assert_true(al_request_state_spend(request_states, &another));
    now_ms += AL_REQUEST_STATE_LIFETIME_MS - 1;
    assert_false(al_request_state_spend(request_states, &request_state));
    now_ms += 1; /* forgotten, and expired */
    assert_false(al_request_state_spend(request_states, &request_state));
    now_ms += AL_REQUEST_STATE_LIFETIME_MS;
    assert_false(al_request_state_spend(request_states, &request_state));
}

static void only_the_newest_ones_count(void **state)
{
    struct al_request_states *request_states = *state;
    struct al_request_state spent = issue(request_states), open = issue(request_states);
    struct al_request_state last = open;

    assert_true(al_request_state_spend(request_states, &spent));
    while (last.number - open.number < AL_REQUEST_STATES_MAX - 1)
        last = issue(request_states);
    assert_false(al_request_state_spend(request_states, &spent));
    assert_true(al_request_state_spend(request_states, &open));
    assert_false(al_request_state_spend(request_states, &open));
    assert_true(al_request_state_spend(request_states, &last));
    (void)issue(request_states);
    assert_false(al_request_state_spend(request_states, &open));
    assert_false(al_request_state_spend(request_states, &last));
}

#define STATE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        STATE_TEST(reads_what_it_issued),
        STATE_TEST(says_nothing_about_what_it_is_bound_to),
        STATE_TEST(refuses_every_changed_character),
        STATE_TEST(refuses_every_changed_bit),
        STATE_TEST(refuses_other_lengths),
        STATE_TEST(refuses_states_of_another_process),
        STATE_TEST(counts_until_it_expires),
        STATE_TEST(is_spent_once),
        STATE_TEST(only_the_newest_ones_count),
    };

    return cmocka_run_group_tests_name("mcp/request_state", tests, NULL, NULL);
}
