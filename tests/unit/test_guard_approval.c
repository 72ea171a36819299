// SPDX-License-Identifier: Apache-2.0
/* guard/approval.h: "always" covers one tool, operation and repository, from every thread. */
#include "guard/approval.h"

#include <pthread.h>

#include "tests/lib/assert.h"
#include "util/str.h"

static void three_words_are_modes_and_nothing_else_is(void **state)
{
    static const char *const wrong[] = { "", "Ask", "asks", "allowed", "DENY", " ask", "yes" };

    (void)state;
    assert_int_equal(al_approval_mode_parse("ask"), AL_APPROVAL_ASK);
    assert_int_equal(al_approval_mode_parse("allow"), AL_APPROVAL_ALLOW);
    assert_int_equal(al_approval_mode_parse("deny"), AL_APPROVAL_DENY);
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(al_approval_mode_parse(wrong[i]), -1);
}

static void always_covers_exactly_what_was_answered(void **state)
{
    struct al_approvals *approvals = al_approvals_new();

    (void)state;
    assert_false(al_approvals_has(approvals, "git_add", "add", "/r"));
    al_approvals_remember(approvals, "git_add", "add", "/r");
    al_approvals_remember(approvals, "git_add", "add", "/r");
    assert_true(al_approvals_has(approvals, "git_add", "add", "/r"));
    assert_false(al_approvals_has(approvals, "git_add", "add", "/r2"));
    assert_false(al_approvals_has(approvals, "git_add", "add", "/"));
    assert_false(al_approvals_has(approvals, "git_add", "remove", "/r"));
    assert_false(al_approvals_has(approvals, "git_commit", "add", "/r"));
    assert_false(al_approvals_has(approvals, "git_ad", "dadd", "/r"));
    assert_false(al_approvals_has(approvals, "", "", ""));
    al_approvals_free(approvals);
    al_approvals_free(NULL);
}

static void *remember_many(void *payload)
{
    for (int i = 0; i < 50; i++) {
        al_auto(al_freep) char *repository = al_asprintf("/r%d", i);

        al_approvals_remember(payload, "tool", "op", repository);
        if (!al_approvals_has(payload, "tool", "op", repository))
            return payload;
    }
    return NULL;
}

static void threads_share_the_answers(void **state)
{
    struct al_approvals *approvals = al_approvals_new();
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, remember_many, approvals), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *missed = NULL;

        assert_int_equal(pthread_join(threads[i], &missed), 0);
        assert_null(missed);
    }
    assert_true(al_approvals_has(approvals, "tool", "op", "/r49"));
    assert_false(al_approvals_has(approvals, "tool", "op", "/r50"));
    al_approvals_free(approvals);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_words_are_modes_and_nothing_else_is),
        cmocka_unit_test(always_covers_exactly_what_was_answered),
        cmocka_unit_test(threads_share_the_answers),
    };

    return cmocka_run_group_tests_name("guard/approval", tests, NULL, NULL);
}
