// SPDX-License-Identifier: Apache-2.0
/* tools/upstream/mounts.h: which tools are mounted, and that a name tells server and tool. */
#include "tools/upstream/mounts.h"

#include "base/str.h"

#include "tests/lib/assert.h"

static void a_name_tells_the_server(void **state)
{
    static const struct {
        const char *name;
        size_t len;
    } cases[] = {
        { "mcp__fs__write_file", 2 },
        { "mcp__a_b__c", 3 },
        { "mcp__a__b__c", 1 },
        { "mcp__a___b", 1 },
        { "mcp__a__", 0 },
        { "mcp__a", 0 },
        { "mcp__", 0 },
        { "git_status", 0 },
        { "mcp_a__b", 0 },
        { "mcp____b", 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(al_mounted_server(cases[i].name), cases[i].len);
}

static void a_name_fits_or_says_why_not(void **state)
{
    static const struct {
        const char *tool, *why; /* NULL: it fits */
    } cases[] = {
        { "write_file", NULL },
        { "Write-File_2", NULL },
        { "_", NULL },
        { "a.b", "'a.b' has characters that clients refuse" },
        { "", "'' has characters that clients refuse" },
        { "a b", "'a b' has characters that clients refuse" },
        { "a\x1b[2J", "'a<U+001B>[2J' has characters that clients refuse" },
        { "\xc3\xa4", "'\xc3\xa4' has characters that clients refuse" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *why = al_mounted_refusal("fs", cases[i].tool);

        if (cases[i].why)
            assert_string_equal(why, cases[i].why);
        else
            assert_null(why);
    }
}

static void a_name_has_at_most_64_bytes(void **state)
{
    (void)state;
    /* "mcp__fs__" has 9 */
    for (size_t len = 54; len <= 56; len++) {
        al_auto(al_freep) char *tool = al_asprintf("%0*d", (int)len, 1);
        al_auto(al_freep) char *why = al_mounted_refusal("fs", tool);

        assert_int_equal(why == NULL, len <= 55);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_tells_the_server),
        cmocka_unit_test(a_name_fits_or_says_why_not),
        cmocka_unit_test(a_name_has_at_most_64_bytes),
    };

    return cmocka_run_group_tests_name("toolsets/upstream/names", tests, NULL, NULL);
}
