// SPDX-License-Identifier: Apache-2.0
/* tool/toolset_registry.h: toolsets register once, and are found by name. */
#include "call/registry.h"

#include "tests/lib/assert.h"

static const struct al_tool git_log = { .name = "git_log" }, read_file = { .name = "read_file" };
static const struct al_tool *const git_tools[] = { &git_log, NULL };
static const struct al_tool *const both_tools[] = { &read_file, &git_log, NULL };

static const struct al_toolset git = { .name = "git", .tools = git_tools };
static const struct al_toolset both = { .name = "both", .tools = both_tools };
static const struct al_toolset another = { .name = "git", .tools = both_tools };

static void a_name_is_registered_once(void **state)
{
    al_auto(al_toolset_registry_clear) struct al_toolset_registry registry =
        AL_TOOLSET_REGISTRY_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    (void)state;
    assert_int_equal(al_toolset_register(&registry, &git, &err), 0);
    assert_int_equal(al_toolset_register(&registry, &both, &err), 0);
    assert_int_equal(al_toolset_register(&registry, &git, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "Toolset \"git\" already registered");
    assert_int_equal(al_toolset_register(&registry, &another, &err), AL_ERR_BAD_ARGS);
    assert_int_equal(registry.count, 2);
    assert_ptr_equal(al_toolset_find(&registry, "git"), &git);
}

static void a_toolset_is_found_by_its_exact_name(void **state)
{
    static const char *const others[] = { "", "gi", "gitx", "Git", "workflow" };
    al_auto(al_toolset_registry_clear) struct al_toolset_registry registry =
        AL_TOOLSET_REGISTRY_INIT;

    (void)state;
    assert_null(al_toolset_find(&registry, "git"));
    assert_int_equal(al_toolset_register(&registry, &git, NULL), 0);
    assert_int_equal(al_toolset_register(&registry, &both, NULL), 0);
    assert_ptr_equal(al_toolset_find(&registry, "both"), &both);
    for (size_t i = 0; i < COUNT(others); i++)
        assert_null(al_toolset_find(&registry, others[i]));
}

static void all_are_listed_and_the_registry_can_be_cleared(void **state)
{
    al_auto(al_toolset_registry_clear) struct al_toolset_registry registry =
        AL_TOOLSET_REGISTRY_INIT;

    (void)state;
    for (int i = 0; i < 2; i++) {
        al_auto(al_freep) char *none = al_toolset_names(&registry), *names = NULL;

        assert_string_equal(none, "");
        assert_int_equal(al_toolset_register(&registry, &both, NULL), 0);
        assert_int_equal(al_toolset_register(&registry, &git, NULL), 0);
        names = al_toolset_names(&registry);
        assert_string_equal(names, "both, git");
        al_toolset_registry_clear(&registry);
        assert_int_equal(registry.count, 0);
        assert_null(al_toolset_find(&registry, "both"));
    }
}

static void a_tool_is_found_in_the_first_toolset_that_has_it(void **state)
{
    al_auto(al_toolset_registry_clear) struct al_toolset_registry registry =
        AL_TOOLSET_REGISTRY_INIT;

    (void)state;
    assert_null(al_toolset_find_tool(&registry, "git_log").tool);
    assert_int_equal(al_toolset_register(&registry, &git, NULL), 0);
    assert_int_equal(al_toolset_register(&registry, &both, NULL), 0);
    assert_ptr_equal(al_toolset_find_tool(&registry, "git_log").toolset, &git);
    assert_ptr_equal(al_toolset_find_tool(&registry, "read_file").tool, &read_file);
    assert_null(al_toolset_find_tool(&registry, "read").tool);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_registered_once),
        cmocka_unit_test(a_toolset_is_found_by_its_exact_name),
        cmocka_unit_test(all_are_listed_and_the_registry_can_be_cleared),
        cmocka_unit_test(a_tool_is_found_in_the_first_toolset_that_has_it),
    };

    return cmocka_run_group_tests_name("tool/toolset_registry", tests, NULL, NULL);
}
