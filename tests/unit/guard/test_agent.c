// SPDX-License-Identifier: Apache-2.0
/* guard/agent.c: names of agents, as clients give them and as users choose them. */
#include "guard/agent.h"

#include <stdlib.h>

#include "base/str.h"
#include "tests/lib/assert.h"

#define SIXTY "123456789 123456789 123456789 123456789 123456789 123456789 "

static void is_made(const char *given, const char *expected)
{
    al_auto(al_freep) char *name = al_agent_name(given);

    if (expected)
        assert_string_equal(name, expected);
    else
        assert_null(name);
}

static void a_clients_name_becomes_one_safe_line(void **state)
{
    (void)state;
    is_made("claude-code", "claude-code");
    is_made("Agent \u00e9t\u00e9 7", "Agent \u00e9t\u00e9 7");
    is_made("  two\nlines\t ", "two lines");
    is_made("\033[31mred\033[0m", "red");
    is_made("a\u202eb", "a<U+202E>b");
    is_made("bad\xff"
            "byte",
            "bad\ufffdbyte");
}

static void a_name_without_visible_characters_is_none(void **state)
{
    (void)state;
    is_made(NULL, NULL);
    is_made("", NULL);
    is_made(" \n\t ", NULL);
    is_made("\033[31m", NULL);
}

static void a_long_name_is_cut_between_two_characters(void **state)
{
    al_auto(al_freep) char *endless = malloc(2000001), *name = NULL;

    (void)state;
    is_made(SIXTY "abc", SIXTY "abc");
    is_made(SIXTY "abcd", SIXTY "abcd");
    is_made(SIXTY "abcde", SIXTY "abcd");
    is_made(SIXTY "abc\u00e9", SIXTY "abc");
    is_made(SIXTY "abc  x", SIXTY "abc");
    memset(endless, 'x', 2000000);
    endless[2000000] = '\0';
    name = al_agent_name(endless);
    assert_int_equal(strlen(name), AL_AGENT_NAME_MAX_BYTES);
}

static void a_chosen_name_is_taken_as_it_is_or_refused(void **state)
{
    static const char *const taken[] = { "x", "claude-code", "Agent 7", SIXTY "abcd" };
    static const char *const refused[] = {
        "", " ", " x", "x ", "a\nb", "a\tb", "\033[1mx", SIXTY "abcde", "a\u202eb", "\xff",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(taken); i++)
        assert_int_equal(al_agent_check_name(taken[i], NULL), 0);
    for (size_t i = 0; i < COUNT(refused); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(al_agent_check_name(refused[i], &err), AL_ERR_BAD_ARGS);
        assert_string_equal(err.message, "must be 1 to 64 bytes of visible characters on one line");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clients_name_becomes_one_safe_line),
        cmocka_unit_test(a_name_without_visible_characters_is_none),
        cmocka_unit_test(a_long_name_is_cut_between_two_characters),
        cmocka_unit_test(a_chosen_name_is_taken_as_it_is_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
