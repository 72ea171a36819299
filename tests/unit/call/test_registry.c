// SPDX-License-Identifier: Apache-2.0
/* call/registry.c: the earlier toolset wins a name, and the others are noted. */
#include "call/registry.h"
#include "call/tool.h"

#include "tests/lib/assert.h"

static const struct al_tool git_status = { .name = "status" }, git_log = { .name = "log" };
static const struct al_tool flow_log = { .name = "log" }, flow_push = { .name = "push" };

static const struct al_tool *const git_tools[] = { &git_status, &git_log, NULL };
static const struct al_tool *const flow_tools[] = { &flow_log, &flow_push, NULL };

static const struct al_toolset both[] = { { .name = "git", .tools = git_tools },
                                          { .name = "flow", .tools = flow_tools } };
static const struct al_toolset_registry all = { .items = both, .count = COUNT(both) };

/* Fills a registry from up to two names. */
static void fill(struct al_registry *registry, const char *first, const char *second)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_strv_adds(&names, first, second, NULL);
    assert_int_equal(al_registry_fill(registry, &all, &names, NULL), 0);
}

static void notes_only(const struct al_registry *registry, const char *line)
{
    assert_int_equal(registry->notes.count, 1);
    assert_string_equal(registry->notes.items[0], line);
}

static void lists_the_tools_in_order(void **state)
{
    struct al_registry registry = AL_REGISTRY_INIT;

    (void)state;
    fill(&registry, "git", NULL);
    assert_int_equal(registry.count, 2);
    assert_ptr_equal(registry.items[0].tool, &git_status);
    assert_ptr_equal(registry.items[1].tool, &git_log);
    assert_ptr_equal(registry.items[1].toolset, &both[0]);
    assert_int_equal(registry.notes.count, 0);
    al_registry_clear(&registry);
    assert_int_equal(registry.count, 0);
    assert_null(al_registry_find(&registry, "log"));
}

static void the_earlier_toolset_wins_and_a_line_says_so(void **state)
{
    struct al_registry registry = AL_REGISTRY_INIT;

    (void)state;
    fill(&registry, "git", "flow");
    assert_int_equal(registry.count, 3);
    assert_ptr_equal(al_registry_find(&registry, "log")->tool, &git_log);
    assert_ptr_equal(al_registry_find(&registry, "push")->toolset, &both[1]);
    notes_only(&registry, "toolset 'flow': earlier toolsets keep log (git)");

    fill(&registry, "flow", "git"); /* filling again starts from nothing */
    assert_int_equal(registry.count, 3);
    assert_ptr_equal(al_registry_find(&registry, "log")->tool, &flow_log);
    notes_only(&registry, "toolset 'git': earlier toolsets keep log (flow)");
    al_registry_clear(&registry);
}

static void naming_a_toolset_twice_says_nothing_new(void **state)
{
    struct al_registry registry = AL_REGISTRY_INIT;

    (void)state;
    fill(&registry, "git", "git");
    assert_int_equal(registry.count, 2);
    assert_int_equal(registry.notes.count, 0);
    al_registry_clear(&registry);
}

static void an_unknown_toolset_lists_the_valid_ones(void **state)
{
    struct al_registry registry = AL_REGISTRY_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct al_error err = AL_ERROR_INIT;

    (void)state;
    al_strv_adds(&names, "git", "Git", NULL);
    assert_int_equal(al_registry_fill(&registry, &all, &names, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "unknown toolset 'Git' (valid: git, flow)");
    assert_int_equal(registry.count, 0);
    al_error_clear(&err);
}

static void a_tool_is_found_by_its_exact_name(void **state)
{
    struct al_registry registry = AL_REGISTRY_INIT;

    (void)state;
    fill(&registry, "git", NULL);
    assert_non_null(al_registry_find(&registry, "status"));
    assert_null(al_registry_find(&registry, "Status"));
    assert_null(al_registry_find(&registry, "stat"));
    assert_null(al_registry_find(&registry, ""));
    al_registry_clear(&registry);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_the_tools_in_order),
        cmocka_unit_test(the_earlier_toolset_wins_and_a_line_says_so),
        cmocka_unit_test(naming_a_toolset_twice_says_nothing_new),
        cmocka_unit_test(an_unknown_toolset_lists_the_valid_ones),
        cmocka_unit_test(a_tool_is_found_by_its_exact_name),
    };

    return cmocka_run_group_tests_name("tool/registry", tests, NULL, NULL);
}
