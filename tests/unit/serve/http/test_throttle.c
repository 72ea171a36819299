// SPDX-License-Identifier: Apache-2.0
/* serve/http/throttle.h: the eleventh wrong token of a minute waits, for the address that sent it.
 */
#include "serve/http/throttle.h"

#include "base/str.h"
#include "tests/lib/assert.h"

static int setup(void **state)
{
    *state = al_throttle_new();
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static void send_wrong(struct al_throttle *throttle, const char *address, unsigned count,
                       int64_t now_ms)
{
    while (count--)
        assert_int_equal(al_throttle_wrong(throttle, address, now_ms), 0);
}

static void the_eleventh_within_a_minute_waits(void **state)
{
    send_wrong(*state, "192.0.2.1", AL_THROTTLE_FREE - 1, 1000);
    assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", 1000), 0);
    assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", 1000), AL_THROTTLE_WAIT_MS);
    assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", 60999), AL_THROTTLE_WAIT_MS);
}

static void a_minute_later_none_waits(void **state)
{
    send_wrong(*state, "192.0.2.1", AL_THROTTLE_FREE, 1000);
    assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", 61000), 0);
}

static void the_last_millisecond_of_the_minute_counts(void **state)
{
    send_wrong(*state, "192.0.2.1", AL_THROTTLE_FREE, 1000);
    assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", 60999), AL_THROTTLE_WAIT_MS);
}

static void those_that_waited_count_too(void **state)
{
    send_wrong(*state, "192.0.2.1", AL_THROTTLE_FREE, 0);
    for (unsigned i = 0; i < AL_THROTTLE_FREE; i++)
        assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", 50000), AL_THROTTLE_WAIT_MS);
    assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", 100000), AL_THROTTLE_WAIT_MS);
    assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", 110000), 0);
}

static void the_minute_moves(void **state)
{
    for (int i = 0; i < 1000; i++) /* ten in a minute, on and on */
        assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", i * 6000), 0);
    assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", 5994001), AL_THROTTLE_WAIT_MS);
}

static void another_address_does_not_wait(void **state)
{
    send_wrong(*state, "192.0.2.1", AL_THROTTLE_FREE, 0);
    send_wrong(*state, "192.0.2.2", AL_THROTTLE_FREE, 0);
    send_wrong(*state, "2001:db8::1", AL_THROTTLE_FREE, 0);
    send_wrong(*state, "", AL_THROTTLE_FREE, 0);
    assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", 0), AL_THROTTLE_WAIT_MS);
    assert_int_equal(al_throttle_wrong(*state, "", 0), AL_THROTTLE_WAIT_MS);
}

static void an_ipv6_network_is_one_address(void **state)
{
    send_wrong(*state, "2001:db8:0:1::1", AL_THROTTLE_FREE / 2, 0);
    send_wrong(*state, "2001:db8:0:1:ffff::2", AL_THROTTLE_FREE / 2, 0);
    assert_int_equal(al_throttle_wrong(*state, "2001:db8:0:1::3", 0), AL_THROTTLE_WAIT_MS);
    assert_int_equal(al_throttle_wrong(*state, "2001:db8:0:2::1", 0), 0);
}

static void a_mapped_ipv4_address_is_that_address(void **state)
{
    send_wrong(*state, "192.0.2.1", AL_THROTTLE_FREE, 0);
    assert_int_equal(al_throttle_wrong(*state, "::ffff:192.0.2.1", 0), AL_THROTTLE_WAIT_MS);
    assert_int_equal(al_throttle_wrong(*state, "::ffff:192.0.2.2", 0), 0);
}

static void the_oldest_of_too_many_addresses_is_forgotten(void **state)
{
    send_wrong(*state, "192.0.2.1", AL_THROTTLE_FREE, 0);
    send_wrong(*state, "192.0.2.2", AL_THROTTLE_FREE, 1);
    send_wrong(*state, "192.0.2.3", 1, 2);
    for (unsigned i = 3; i < AL_THROTTLE_ADDRESSES_MAX; i++) {
        al_auto(al_freep) char *other = al_asprintf("10.0.%u.%u", i / 256, i % 256);

        send_wrong(*state, other, 1, 3);
    }
    assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", 4), AL_THROTTLE_WAIT_MS);
    send_wrong(*state, "192.0.2.5", 1, 5); /* in the place of 192.0.2.2 */
    assert_int_equal(al_throttle_wrong(*state, "192.0.2.1", 6), AL_THROTTLE_WAIT_MS);
    assert_int_equal(al_throttle_wrong(*state, "192.0.2.2", 7), 0);
}

#define THROTTLE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        THROTTLE_TEST(the_eleventh_within_a_minute_waits),
        THROTTLE_TEST(a_minute_later_none_waits),
        THROTTLE_TEST(the_last_millisecond_of_the_minute_counts),
        THROTTLE_TEST(those_that_waited_count_too),
        THROTTLE_TEST(the_minute_moves),
        THROTTLE_TEST(another_address_does_not_wait),
        THROTTLE_TEST(an_ipv6_network_is_one_address),
        THROTTLE_TEST(a_mapped_ipv4_address_is_that_address),
        THROTTLE_TEST(the_oldest_of_too_many_addresses_is_forgotten),
    };

    return cmocka_run_group_tests_name("http/throttle", tests, NULL, NULL);
}
