// SPDX-License-Identifier: Apache-2.0
/* The subset that POSIX ERE and ECMA-262 share, and what lies outside of it. */
#include "base/mem.h"
#include "tests/lib/assert.h"
#include "tests/tables/self_check.h"

/* NULL: the pattern is accepted. */
static void finds(const char *pattern, const char *expected)
{
    al_auto(al_freep) char *fault = al_pattern_fault(pattern);

    if (!expected && fault)
        fail_msg("'%s' is in the subset, but: it %s", pattern, fault);
    if (!expected)
        return;
    assert_non_null(fault);
    assert_string_equal(fault, expected);
}

static void faults(void **state)
{
    static const char *const sound[] = {
        "^[a-z]+$",        "^[a-z0-9_-]+$", "^[A-Za-z0-9_./~^@-]{1,200}$", "^(feat|fix)$",
        "^a?b*c{2}d{3,}$", "^[^a]x\\.y$",   "^stash@\\{[0-9]+\\}$",
    };
    static const char *const loose[] = { "[a-z]+$", "^[a-z]+", "", "x" };
    static const char *const uncompiled[] = { "^[a-z$", "^(a$", "^a{2,1}$" };
    static const char *const outside[] = {
        "^.+$",  "^\\d+$",     "^\\w$",  "^[[:alpha:]]$", "^[\\]]$",  "^[]a]$",
        "^a+?$", "^(?:a)$",    "^a|b$",  "^(a|)$",        "^()$",     "^a$b$",
        "^a^b$", "^\xc3\xa9$", "^(a|b$", "^a\n$",         "^[a\nb]$", "^$",
        "^a{$",  "^a**$",      "^a\\$",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(sound); i++)
        finds(sound[i], NULL);
    for (size_t i = 0; i < COUNT(loose); i++)
        finds(loose[i], "has a pattern that is not anchored");
    for (size_t i = 0; i < COUNT(uncompiled); i++)
        finds(uncompiled[i], "has a pattern that does not compile");
    for (size_t i = 0; i < COUNT(outside); i++) {
        /* Some do not compile either; the order of the two messages does not matter. */
        al_auto(al_freep) char *fault = al_pattern_fault(outside[i]);

        if (!fault)
            fail_msg("accepted: %s", outside[i]);
    }
}

static void matching(void **state)
{
    (void)state;
    assert_true(al_pattern_matches("^(feat|fix)$", "fix"));
    assert_false(al_pattern_matches("^(feat|fix)$", "fixed"));
    assert_true(al_pattern_matches("^[^a]x\\.y$", "bx.y"));
    assert_false(al_pattern_matches("^[^a]x\\.y$", "bxzy"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults),
        cmocka_unit_test(matching),
    };

    return cmocka_run_group_tests_name("tool/pattern", tests, NULL, NULL);
}
