// SPDX-License-Identifier: Apache-2.0
/* tool/rows.c: the first operation that applies to the arguments is selected. */
#include "tool/tool.h"

#include "tests/lib/assert.h"

enum { PUSH, POP };

struct sample_args {
    bool quiet;
    int action;
};

static bool wants_pop(const struct al_call *call, const void *p)
{
    (void)call;
    return ((const struct sample_args *)p)->action == POP;
}

static bool is_quiet(const struct al_call *call, const void *p)
{
    (void)call;
    return ((const struct sample_args *)p)->quiet;
}

static void the_first_operation_that_applies_is_selected(void **state)
{
    static const struct al_operation operations[] = {
        { .name = "quiet", .applies = is_quiet },
        { .name = "pop", .applies = wants_pop },
        { .name = "push" },
    };
    const struct al_tool tool = { .operations = operations, .noperations = COUNT(operations) };
    struct sample_args args = { .quiet = true, .action = POP };

    (void)state;
    assert_string_equal(al_tool_select(&tool, NULL, &args)->name, "quiet");
    args.quiet = false;
    assert_string_equal(al_tool_select(&tool, NULL, &args)->name, "pop");
    args.action = PUSH;
    assert_string_equal(al_tool_select(&tool, NULL, &args)->name, "push");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_operation_that_applies_is_selected),
    };

    return cmocka_run_group_tests_name("tool/operation", tests, NULL, NULL);
}
