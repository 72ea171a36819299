// SPDX-License-Identifier: Apache-2.0
/* serve/mcp/service.h: a principal is released with its last reference, and keeps no "always". */
#include "serve/mcp/service.h"

#include "tests/lib/assert.h"

static void count(void *payload)
{
    ++*(int *)payload;
}

static void the_last_reference_releases(void **state)
{
    const struct al_session session = { .mode = AL_APPROVAL_DENY, .agent = "one" };
    int released = 0;
    struct al_principal *principal = al_principal_new(&session, "one", count, &released);

    (void)state;
    assert_ptr_equal(al_principal_ref(principal), principal);
    al_principal_unref(principal);
    assert_int_equal(released, 0);
    assert_string_equal(principal->name, "one");
    assert_int_equal(principal->session.mode, AL_APPROVAL_DENY);
    al_principal_unref(principal);
    assert_int_equal(released, 1);
    al_principal_unref(NULL);
}

static void numbers_are_not_used_again(void **state)
{
    const struct al_session session = { .agent = "one" };
    uint64_t last = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct al_principal *principal = al_principal_new(&session, "one", NULL, NULL);

        assert_true(principal->number > last);
        last = principal->number;
        al_principal_unref(principal);
    }
}

static void approvals_are_of_an_mcp_session(void **state)
{
    struct al_approvals *approvals = al_approvals_new(NULL);
    const struct al_session session = { .approvals = approvals };
    struct al_principal *principal = al_principal_new(&session, "one", NULL, NULL);

    (void)state;
    assert_null(principal->session.approvals);
    al_principal_unref(principal);
    al_approvals_free(approvals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_reference_releases),
        cmocka_unit_test(numbers_are_not_used_again),
        cmocka_unit_test(approvals_are_of_an_mcp_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
