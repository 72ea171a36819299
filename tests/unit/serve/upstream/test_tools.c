// SPDX-License-Identifier: Apache-2.0
/* serve/upstream/tools.c, upstream/list.c: which tools of a server are offered, and with which
 * texts. */
#include "serve/upstream/private.h"
#include "tests/unit/serve/upstream/lib.h"

static json_t *tools_of(struct world *world)
{
    json_t *tools = NULL;

    struct al_error err = AL_ERROR_INIT;

    if (start_fake(world, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(al_upstream_tools(world->server, 0, NULL, &tools, NULL), 0);
    return tools;
}

static void assert_offered(const json_t *tools, const char *name, bool wanted)
{
    if ((al_upstream_tools_find(tools, name) != NULL) != wanted)
        fail_msg("%s", name);
}

static void impossible_tools_are_left_out(void **state)
{
    static const char *const offered[] = {
        "good",       "a.b-c_d9",    "found",         "lost",  "far",          "deep_31",
        "bad_output", "bad_pattern", "input_pattern", "texts", "no_such_type",
    };
    static const char *const not [] = { "no_schema", "array", "no_type", "string", "deep_33",
                                        "deep",      "large", "a b",     "a/b",    "" };
    struct world world = world_new("legacy", "strange_tools");
    json_t *tools = tools_of(&world);
    struct al_upstream_state seen;
    char name[301];

    (void)state;
    for (size_t i = 0; i < COUNT(offered); i++)
        assert_offered(tools, offered[i], true);
    for (size_t i = 0; i < COUNT(not ); i++)
        assert_offered(tools, not [i], false);
    memset(name, 'n', sizeof(name));
    name[300] = '\0';
    assert_offered(tools, name, false);
    name[129] = '\0';
    assert_offered(tools, name, false);
    name[128] = '\0';
    assert_offered(tools, name, true);
    assert_int_equal(json_array_size(tools), COUNT(offered) + 1);
    assert_null(json_object_get(
        json_object_get(al_upstream_tools_find(tools, "good"), "inputSchema"), "title"));
    al_upstream_get_state(world.server, &seen);
    assert_int_equal(seen.ntools, COUNT(offered) + 1);
    assert_int_equal(seen.nleft_out, 22);
    assert_non_null(strstr(seen.left_out, "nnn...' has a name that is not 1 to 128 characters"));
    al_upstream_state_clear(&seen);
    json_decref(tools);
    world_clear(&world);
}

static void texts_are_safe_and_cut(void **state)
{
    struct world world = world_new("modern", "strange_tools");
    json_t *tools = tools_of(&world);
    const json_t *tool = al_upstream_tools_find(tools, "texts");
    const char *description = al_json_get_string(tool, "description");
    const json_t *properties = json_object_get(json_object_get(tool, "inputSchema"), "properties");

    (void)state;
    assert_string_equal(al_json_get_string(tool, "title"), "a b");
    assert_memory_equal(description, "one\ntwox", 8);
    assert_int_equal(strlen(description), AL_UPSTREAM_DESCRIPTION_MAX_BYTES);
    assert_string_equal(description + AL_UPSTREAM_DESCRIPTION_MAX_BYTES - 4, "x...");
    assert_string_equal(
        al_json_get_string(json_object_get(properties, "description"), "description"),
        "a<U+202E>b");
    assert_null(json_object_get(tool, "annotations"));
    json_decref(tools);
    world_clear(&world);
}

static void definitions_are_passed_on_as_they_are(void **state)
{
    struct world world = world_new("legacy", "strange_tools"), plain = world_new("legacy", "");
    json_t *tools = tools_of(&world), *good = tools_of(&plain);
    const json_t *tool = al_upstream_tools_find(good, "structured");

    (void)state;
    assert_non_null(json_object_get(al_upstream_tools_find(tools, "bad_output"), "outputSchema"));
    assert_non_null(json_object_get(al_upstream_tools_find(tools, "bad_pattern"), "outputSchema"));
    assert_non_null(json_object_get(tool, "outputSchema"));
    assert_string_equal(al_json_get_string(tool, "title"), "A title");
    assert_true(
        json_is_true(json_object_get(json_object_get(tool, "annotations"), "readOnlyHint")));
    json_decref(tools);
    json_decref(good);
    world_clear(&world);
    world_clear(&plain);
}

static void the_number_of_tools_is_bounded(void **state)
{
    struct world world = world_new("legacy", "many_tools");
    json_t *tools = tools_of(&world);
    struct al_upstream_state seen;

    (void)state;
    assert_int_equal(json_array_size(tools), AL_UPSTREAM_TOOLS_MAX);
    al_upstream_get_state(world.server, &seen);
    assert_int_equal(seen.nleft_out, 10000 - AL_UPSTREAM_TOOLS_MAX);
    assert_string_equal(seen.left_out, "tool 't1000' is beyond the limit of 1000 tools");
    al_upstream_state_clear(&seen);
    json_decref(tools);
    world_clear(&world);
}

static void pages_are_read_to_the_end(void **state)
{
    struct world world = world_new("modern", "pages"), whole = world_new("modern", "");
    json_t *paged = tools_of(&world), *tools = tools_of(&whole);

    (void)state;
    assert_int_equal(json_array_size(paged), json_array_size(tools));
    assert_true(json_array_size(tools) > 30);
    json_decref(paged);
    json_decref(tools);
    world_clear(&world);
    world_clear(&whole);
}

static void assert_no_list(const char *start, const char *wanted)
{
    struct world world = world_new("legacy", start);
    struct al_error err = AL_ERROR_INIT;

    assert_int_equal(start_fake(&world, &err), AL_ERR_EXECUTION);
    if (strncmp(err.message, wanted, strlen(wanted)) != 0)
        fail_msg("%s", err.message);
    al_error_clear(&err);
    world_clear(&world);
    assert_no_children();
}

static void what_is_no_list_is_an_error(void **state)
{
    (void)state;
    assert_no_list("no_list",
                   "MCP server 'fake' answered tools/list with something that is no list "
                   "of tools");
    assert_no_list("list_error",
                   "MCP server 'fake' answered tools/list with error -32603: no list");
    assert_no_list("endless_pages", "MCP server 'fake' has a list of tools that is too long");
    assert_no_list("long_list",
                   "MCP server 'fake' answered tools/list with error 0: the answer is too "
                   "large");
}

/* Waits for as many notices, which nothing else bounds but the test's own timeout. */
static void await_changes(const struct world *world, uint64_t count)
{
    uint64_t seen;

    while (count > 0) {
        assert_int_equal(read(world->changed_fd, &seen, sizeof(seen)), sizeof(seen));
        count -= seen;
    }
}

static void a_changed_list_is_read_again(void **state)
{
    static const char *const eras[] = { "legacy", "modern" };

    (void)state;
    for (size_t i = 0; i < COUNT(eras); i++) {
        struct world world = world_new(eras[i], "");
        json_t *before, *after;

        world.changed_fd = eventfd(0, EFD_CLOEXEC);
        world.settings.on_tools = on_tools;
        world.settings.payload = &world;
        before = tools_of(&world);
        await_changes(&world, 1);
        assert_null(al_upstream_tools_find(before, "fresh"));
        assert_gives(&world, "change", "{}", "changed");
        await_changes(&world, 1);
        after = tools_of(&world);
        assert_non_null(al_upstream_tools_find(after, "fresh"));
        assert_int_equal(json_array_size(after),
                         json_array_size(before) + 1); /* the old list is as it was */
        json_decref(before);
        json_decref(after);
        world_clear(&world);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(impossible_tools_are_left_out),
        cmocka_unit_test(texts_are_safe_and_cut),
        cmocka_unit_test(definitions_are_passed_on_as_they_are),
        cmocka_unit_test(the_number_of_tools_is_bounded),
        cmocka_unit_test(pages_are_read_to_the_end),
        cmocka_unit_test(what_is_no_list_is_an_error),
        cmocka_unit_test(a_changed_list_is_read_again),
    };

    return cmocka_run_group_tests_name("upstream/tools", tests, set_up_proc, NULL);
}
