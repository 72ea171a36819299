// SPDX-License-Identifier: Apache-2.0
/* The words that each reading operation takes: every refusal is by the words alone. */
#include "git/readonly/readonly_commands.h"

#include "tests/lib/assert.h"

static int check(enum al_readonly_op op, const char *arg, const char *ref, const char *path)
{
    al_auto(al_strv_clear) struct al_strv args = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    if (arg)
        al_strv_add(&args, arg);
    r = al_readonly_check(
        &(struct al_readonly_options){ .op = op, .args = &args, .ref = ref, .path = path }, &err);
    assert_int_equal(err.status, r);
    if (r < 0)
        assert_int_equal(r, AL_ERR_BAD_ARGS);
    return r;
}

static void takes_what_the_row_has(void **state)
{
    (void)state;
    for (int op = AL_READONLY_STATUS; op <= AL_READONLY_REV_PARSE; op++) {
        const char *ref = op == AL_READONLY_SHOW ? "HEAD" : NULL;
        const char *path = op == AL_READONLY_BLAME ? "a.txt" : NULL;
        bool is_log = op == AL_READONLY_LOG;

        assert_int_equal(check((enum al_readonly_op)op, NULL, ref, path), 0);
        assert_int_equal(check((enum al_readonly_op)op, "--oneline", ref, path) == 0, is_log);
        assert_int_equal(check((enum al_readonly_op)op, "--author=A U Thor", ref, path) == 0,
                         is_log);
        assert_true(check((enum al_readonly_op)op, "--exec-path=/tmp", ref, path) < 0);
        assert_true(check((enum al_readonly_op)op, "--", ref, path) < 0);
    }
}

static void counts_what_is_needed(void **state)
{
    (void)state;
    assert_true(check(AL_READONLY_SHOW, NULL, NULL, NULL) < 0);
    assert_true(check(AL_READONLY_BLAME, NULL, "HEAD", NULL) < 0);
    assert_true(check(AL_READONLY_BRANCH, NULL, "HEAD", NULL) < 0);
    assert_true(check(AL_READONLY_BRANCH, NULL, NULL, "a.txt") < 0);
    assert_true(check(AL_READONLY_STATUS, NULL, "HEAD", NULL) < 0);
    assert_true(check(AL_READONLY_LS_FILES, NULL, "HEAD", NULL) < 0);
    assert_true(check(AL_READONLY_REV_PARSE, NULL, "HEAD", "a.txt") < 0);
}

static void references(void **state)
{
    static const char *const good[] = { "HEAD", "HEAD~1^", "a/b.c", "_", "@", "A..B", "^x" };
    static const char *const bad[] = { "",    "-p",  "a b",      "a\nb", "a;b",
                                       "a:b", "a{b", "\xc3\xa9", "a*",   "a\\b" };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(good); i++)
        assert_int_equal(check(AL_READONLY_LOG, NULL, good[i], NULL), 0);
    for (size_t i = 0; i < AL_COUNT(bad); i++)
        assert_true(check(AL_READONLY_LOG, NULL, bad[i], NULL) < 0);
    assert_int_equal(check(AL_READONLY_DIFF, NULL, "A..B", NULL), 0);
    assert_true(check(AL_READONLY_SHOW, NULL, "A..B", NULL) < 0);
}

static void paths(void **state)
{
    static const char *const good[] = { "a", "a..b", "...", "d/", "-p", "a b", "*.c" };
    static const char *const bad[] = { "", "/a", "..", "../a", "a/..", "a/../b", "a\nb", "a\x7f" };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(good); i++)
        assert_int_equal(check(AL_READONLY_LOG, NULL, NULL, good[i]), 0);
    for (size_t i = 0; i < AL_COUNT(bad); i++)
        assert_true(check(AL_READONLY_LOG, NULL, NULL, bad[i]) < 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_the_row_has),
        cmocka_unit_test(counts_what_is_needed),
        cmocka_unit_test(references),
        cmocka_unit_test(paths),
    };

    return cmocka_run_group_tests_name("gitops/inspect", tests, NULL, NULL);
}
