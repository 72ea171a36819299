// SPDX-License-Identifier: Apache-2.0
/* call/registry.c: toolsets and their tools are found by name. */
#include "call/registry.h"

#include "tests/lib/assert.h"

static const struct al_tool git_log = { .name = "git_log" }, read_file = { .name = "read_file" };
static const struct al_tool *const git_tools[] = { &git_log, NULL };
static const struct al_tool *const both_tools[] = { &read_file, &git_log, NULL };

static const struct al_toolset both[] = { { .name = "both", .tools = both_tools },
                                          { .name = "git", .tools = git_tools } };
static const struct al_toolset_registry all = { both, COUNT(both) }, none = { .items = NULL };

static void a_toolset_is_found_by_its_exact_name(void **state)
{
    static const char *const others[] = { "", "gi", "gitx", "Git", "workflow" };
    al_auto(al_freep) char *no_names = al_toolset_names(&none), *names = al_toolset_names(&all);

    (void)state;
    assert_null(al_toolset_find(&none, "git"));
    assert_ptr_equal(al_toolset_find(&all, "git"), &both[1]);
    for (size_t i = 0; i < COUNT(others); i++)
        assert_null(al_toolset_find(&all, others[i]));
    assert_string_equal(no_names, "");
    assert_string_equal(names, "both, git");
}

static void a_tool_is_found_in_the_first_toolset_that_has_it(void **state)
{
    (void)state;
    assert_null(al_toolset_find_tool(&none, "git_log").tool);
    assert_ptr_equal(al_toolset_find_tool(&all, "git_log").toolset, &both[0]);
    assert_ptr_equal(al_toolset_find_tool(&all, "read_file").tool, &read_file);
    assert_null(al_toolset_find_tool(&all, "read").tool);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_toolset_is_found_by_its_exact_name),
        cmocka_unit_test(a_tool_is_found_in_the_first_toolset_that_has_it),
    };

    return cmocka_run_group_tests_name("call/toolset_registry", tests, NULL, NULL);
}
