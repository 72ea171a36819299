// SPDX-License-Identifier: Apache-2.0
/* mcp/request_state.h: a ticket is ours, unchanged, young and unspent, or it does not count. */
#include "mcp/request_state.h"

#include "tests/lib/assert.h"
#include "util/str.h"

static int64_t now_ms;

static int64_t clock_ms(void)
{
    return now_ms;
}

static const struct al_request_state_digest call = { { 1, 2, 3 } };
static const struct al_request_state_digest shown = { { 4, 5, 6 } };

static int setup(void **state)
{
    struct al_request_states *tickets = al_malloc(sizeof(*tickets));

    assert_int_equal(al_request_states_init(tickets, NULL), 0);
    tickets->clock_ms = clock_ms;
    now_ms = 1000000;
    *state = tickets;
    return 0;
}

static int teardown(void **state)
{
    al_request_states_clear(*state);
    free(*state);
    return 0;
}

static struct al_request_state issue(struct al_request_states *tickets)
{
    char text[AL_REQUEST_STATE_CHARS + 1];
    struct al_request_state ticket;

    assert_int_equal(al_request_state_issue(tickets, &call, &shown, text, NULL), 0);
    assert_true(al_request_state_read(tickets, text, strlen(text), &ticket));
    return ticket;
}

static void reads_what_it_issued(void **state)
{
    struct al_request_states *tickets = *state;
    struct al_request_state ticket = issue(tickets), another = issue(tickets);

    assert_memory_equal(&ticket.call, &call, sizeof(call));
    assert_memory_equal(&ticket.shown, &shown, sizeof(shown));
    assert_int_equal(ticket.issued_ms, now_ms);
    assert_memory_not_equal(ticket.nonce, another.nonce, sizeof(ticket.nonce));
}

static void says_nothing_about_what_it_is_bound_to(void **state)
{
    struct al_request_states *tickets = *state;
    char text[AL_REQUEST_STATE_CHARS + 1];

    assert_int_equal(al_request_state_issue(tickets, &call, &shown, text, NULL), 0);
    assert_int_equal(strlen(text), AL_REQUEST_STATE_CHARS);
    assert_int_equal(
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
        AL_REQUEST_STATE_CHARS);
}

static void refuses_every_changed_character(void **state)
{
    static const char others[] = "ABCDabcd0189-_+/= \n\t\x7f\x80\xff";
    struct al_request_states *tickets = *state;
    char text[AL_REQUEST_STATE_CHARS + 1];
    struct al_request_state ticket;

    assert_int_equal(al_request_state_issue(tickets, &call, &shown, text, NULL), 0);
    for (size_t i = 0; i < AL_REQUEST_STATE_CHARS; i++) {
        char right = text[i];

        for (size_t k = 0; k < sizeof(others); k++) { /* its NUL too */
            text[i] = others[k];
            assert_true(al_request_state_read(tickets, text, AL_REQUEST_STATE_CHARS, &ticket) ==
                        (others[k] == right));
        }
        text[i] = right;
    }
    assert_true(al_request_state_read(tickets, text, AL_REQUEST_STATE_CHARS, &ticket));
}

static void refuses_every_changed_bit(void **state)
{
    struct al_request_states *tickets = *state;
    char text[AL_REQUEST_STATE_CHARS + 1];
    struct al_request_state ticket;

    assert_int_equal(al_request_state_issue(tickets, &call, &shown, text, NULL), 0);
    for (size_t i = 0; i < AL_REQUEST_STATE_CHARS; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            text[i] = (char)(text[i] ^ (1 << bit));
            assert_false(al_request_state_read(tickets, text, AL_REQUEST_STATE_CHARS, &ticket));
            text[i] = (char)(text[i] ^ (1 << bit));
        }
}

static void refuses_other_lengths(void **state)
{
    struct al_request_states *tickets = *state;
    char text[AL_REQUEST_STATE_CHARS + 3] = { 0 };
    struct al_request_state ticket;

    assert_int_equal(al_request_state_issue(tickets, &call, &shown, text, NULL), 0);
    text[AL_REQUEST_STATE_CHARS] = '=';
    for (size_t len = 0; len < sizeof(text); len++) {
        al_auto(al_freep) char *exact = al_strndup(text, len);

        assert_true(al_request_state_read(tickets, exact, len, &ticket) ==
                    (len == AL_REQUEST_STATE_CHARS));
    }
}

static void refuses_tickets_of_another_process(void **state)
{
    struct al_request_states *tickets = *state;
    void *others = NULL;
    char text[AL_REQUEST_STATE_CHARS + 1];
    struct al_request_state ticket;

    setup(&others);
    assert_int_equal(al_request_state_issue(others, &call, &shown, text, NULL), 0);
    assert_true(al_request_state_read(others, text, AL_REQUEST_STATE_CHARS, &ticket));
    assert_false(al_request_state_read(tickets, text, AL_REQUEST_STATE_CHARS, &ticket));
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
    struct al_request_states *tickets = *state;

    for (size_t i = 0; i < COUNT(ages); i++) {
        struct al_request_state ticket = issue(tickets);

        now_ms += ages[i];
        assert_true(al_request_state_spend(tickets, &ticket) ==
                    (ages[i] < AL_REQUEST_STATE_LIFETIME_MS));
    }
}

static void is_spent_once(void **state)
{
    struct al_request_states *tickets = *state;
    struct al_request_state ticket = issue(tickets), another = issue(tickets);

    assert_true(al_request_state_spend(tickets, &ticket));
    assert_false(al_request_state_spend(tickets, &ticket));
    assert_true(al_request_state_spend(tickets, &another));
    now_ms += AL_REQUEST_STATE_LIFETIME_MS - 1;
    assert_false(al_request_state_spend(tickets, &ticket));
    now_ms += 1; /* forgotten, and expired */
    assert_false(al_request_state_spend(tickets, &ticket));
    now_ms += AL_REQUEST_STATE_LIFETIME_MS;
    assert_false(al_request_state_spend(tickets, &ticket));
}

static void forgets_what_has_expired(void **state)
{
    struct al_request_states *tickets = *state;

    for (size_t i = 0; i < 3 * AL_TICKETS_SPENT_MAX; i++) {
        struct al_request_state ticket = issue(tickets);

        assert_true(al_request_state_spend(tickets, &ticket));
        assert_true(tickets->nspent <= 2);
        now_ms += AL_REQUEST_STATE_LIFETIME_MS / 2;
    }
}

/* Spend `count` tickets, each issued a millisecond after the one before. */
static void spend_many(struct al_request_states *tickets, struct al_request_state *first,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct al_request_state ticket = issue(tickets);

        if (i == 0)
            *first = ticket;
        assert_true(al_request_state_spend(tickets, &ticket));
        now_ms++;
    }
}

static void a_full_table_gives_up_the_oldest_and_lets_none_come_back(void **state)
{
    static const size_t counts[] = { AL_TICKETS_SPENT_MAX - 1, AL_TICKETS_SPENT_MAX,
                                     AL_TICKETS_SPENT_MAX + 1 };

    for (size_t i = 0; i < COUNT(counts); i++) {
        struct al_request_states *tickets = *state;
        struct al_request_state first, twin, later;

        now_ms += AL_REQUEST_STATE_LIFETIME_MS;
        twin = issue(tickets); /* of the first one's time, and not spent */
        now_ms += 2;
        later = issue(tickets);
        now_ms -= 2;
        spend_many(tickets, &first, counts[i]);
        assert_true(tickets->nspent <= AL_TICKETS_SPENT_MAX);
        assert_false(al_request_state_spend(tickets, &first));
        assert_true(al_request_state_spend(tickets, &twin) ==
                    (counts[i] <= AL_TICKETS_SPENT_MAX - 1));
        assert_true(al_request_state_spend(tickets, &later));
        assert_false(al_request_state_spend(tickets, &later));
    }
}

static void tickets_of_one_moment_fill_the_table_too(void **state)
{
    struct al_request_states *tickets = *state;
    struct al_request_state spent[AL_TICKETS_SPENT_MAX], late;

    for (size_t i = 0; i < COUNT(spent); i++) {
        spent[i] = issue(tickets);
        assert_true(al_request_state_spend(tickets, &spent[i]));
    }
    late = issue(tickets);
    assert_false(
        al_request_state_spend(tickets, &late)); /* asked again, rather than approved twice */
    for (size_t i = 0; i < COUNT(spent); i++)
        assert_false(al_request_state_spend(tickets, &spent[i]));
    now_ms++;
    late = issue(tickets);
    assert_true(al_request_state_spend(tickets, &late));
}

#define TICKETS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TICKETS_TEST(reads_what_it_issued),
        TICKETS_TEST(says_nothing_about_what_it_is_bound_to),
        TICKETS_TEST(refuses_every_changed_character),
        TICKETS_TEST(refuses_every_changed_bit),
        TICKETS_TEST(refuses_other_lengths),
        TICKETS_TEST(refuses_tickets_of_another_process),
        TICKETS_TEST(counts_until_it_expires),
        TICKETS_TEST(is_spent_once),
        TICKETS_TEST(forgets_what_has_expired),
        TICKETS_TEST(a_full_table_gives_up_the_oldest_and_lets_none_come_back),
        TICKETS_TEST(tickets_of_one_moment_fill_the_table_too),
    };

    return cmocka_run_group_tests_name("mcp/ticket", tests, NULL, NULL);
}
