// SPDX-License-Identifier: Apache-2.0
/* call/rows.c: rows give the required JSON Schema, and hints come from effects. */
#include "call/tool.h"

#include "tests/lib/assert.h"

struct args {
    bool cached, worktree;
    struct al_opt_int unified, max_count, max_bytes, timeout_ms, lines, depth;
    const char *type, *message, *commit, *working_dir;
    struct al_strv paths, refs;
    int action;
};

static const struct al_choice actions[] = {
    { "push", 0 },
    { "pop", 1 },
    { NULL, 0 },
};

static const struct al_tool_defaults defaults = { .timeout_ms = 30000, .max_bytes = 200000 };

/* The schema of one row, compact and without its description. */
static char *printed(const struct al_param *row, const struct al_tool_defaults *configured)
{
    const struct al_tool tool = { .params = row, .nparams = 1 };
    al_auto(al_json_decrefp) json_t *schema = al_tool_schema(&tool, configured);
    json_t *property = json_object_get(json_object_get(schema, "properties"), row->name);
    struct al_str out = AL_STR_INIT;

    assert_string_equal(al_json_get_string(property, "description"), row->about);
    assert_int_equal(json_object_del(property, "description"), 0);
    al_json_dump(property, false, &out);
    return al_str_detach(&out);
}

static void prints(const struct al_param *row, const char *expected)
{
    al_auto(al_freep) char *text = printed(row, &defaults);

    assert_string_equal(text, expected);
}

static void a_speaking_name_has_no_description(void **state)
{
    static const struct al_param row = AL_BOOL(struct args, cached, NULL);
    static const struct al_tool tool = { .params = &row, .nparams = 1 };
    al_auto(al_json_decrefp) json_t *schema = al_tool_schema(&tool, &defaults);
    json_t *property = json_object_get(json_object_get(schema, "properties"), "cached");

    (void)state;
    assert_non_null(property);
    assert_null(json_object_get(property, "description"));
}

static void booleans_print_their_default(void **state)
{
    static const struct al_param rows[] = {
        AL_BOOL(struct args, cached, "C.", .default_int = 0),
        AL_BOOL(struct args, worktree, "W.", .default_int = 1),
        AL_BOOL(struct args, cached, "C.", .flags = AL_PARAM_REQUIRED),
    };

    (void)state;
    prints(&rows[0], "{\"type\":\"boolean\",\"default\":false}");
    prints(&rows[1], "{\"type\":\"boolean\",\"default\":true}");
    prints(&rows[2], "{\"type\":\"boolean\"}");
}

static void integers_print_bounds_and_asked_for_defaults(void **state)
{
    static const struct al_param rows[] = {
        AL_INT(struct args, unified, "U.", .flags = AL_PARAM_MAX_HIDDEN, .max = 1000000),
        AL_INT(struct args, max_count, "M.", .flags = AL_PARAM_MAX_HIDDEN, .min = 1, .max = 1000),
        AL_INT(struct args, lines, "L.", .min = 1, .max = 9),
        AL_INT(struct args, depth, "D.", .flags = AL_PARAM_HAS_DEFAULT, .max = 9),
    };

    (void)state;
    prints(&rows[0], "{\"type\":\"integer\",\"minimum\":0}");
    prints(&rows[1], "{\"type\":\"integer\",\"minimum\":1}");
    prints(&rows[2], "{\"type\":\"integer\",\"minimum\":1,\"maximum\":9}");
    prints(&rows[3], "{\"type\":\"integer\",\"minimum\":0,\"maximum\":9,\"default\":0}");
}

static void configured_defaults_are_the_ones_printed(void **state)
{
    static const struct al_param rows[] = {
        AL_INT(struct args, timeout_ms, "T.", .flags = AL_PARAM_TIMEOUT, .min = 100, .max = 600000),
        AL_INT(struct args, max_bytes, "M.", .flags = AL_PARAM_MAX_BYTES, .min = 1, .max = 5000000),
    };
    static const struct al_tool_defaults other = { .timeout_ms = 1234, .max_bytes = 56 };

    (void)state;
    prints(&rows[0], "{\"type\":\"integer\",\"minimum\":100,\"default\":30000}");
    prints(&rows[1], "{\"type\":\"integer\",\"minimum\":1,\"maximum\":5000000,\"default\":200000}");

    al_auto(al_freep) char *timeout = printed(&rows[0], &other);
    al_auto(al_freep) char *cap = printed(&rows[1], &other);
    assert_string_equal(timeout, "{\"type\":\"integer\",\"minimum\":100,\"default\":1234}");
    assert_string_equal(cap,
                        "{\"type\":\"integer\",\"minimum\":1,\"maximum\":5000000,\"default\":56}");
}

static void strings_print_their_rules_but_not_their_caps(void **state)
{
    static const struct al_param rows[] = {
        AL_STRING(struct args, working_dir, "W.", .max_bytes = 4096),
        AL_STRING(struct args, type, "T.", .max_bytes = 64, .pattern = "^[a-z]+$"),
        AL_STRING(struct args, message, "M.", .max_bytes = 64, .min_bytes = 1),
        AL_STRING(struct args, commit, "C.", .max_bytes = 64, .flags = AL_PARAM_HAS_DEFAULT,
                  .default_str = "HEAD"),
        AL_STRINGS(struct args, paths, "P.", .max = 100, .max_bytes = 64),
        AL_STRINGS(struct args, paths, "P.", .min = 1, .max = 100, .max_bytes = 64),
        AL_STRINGS(struct args, refs, "R.", .max = 9, .max_bytes = 64, .pattern = "^[a-z]+$"),
        AL_CHOICE(struct args, action, "A.", .choices = actions),
        AL_CHOICE(struct args, action, "A.", .choices = actions, .flags = AL_PARAM_REQUIRED),
    };

    (void)state;
    prints(&rows[0], "{\"type\":\"string\"}");
    prints(&rows[1], "{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"}");
    prints(&rows[2], "{\"type\":\"string\",\"minLength\":1}");
    prints(&rows[3], "{\"type\":\"string\",\"default\":\"HEAD\"}");
    prints(&rows[4], "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}");
    prints(&rows[5], "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1}");
    prints(&rows[6],
           "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"}}");
    prints(&rows[7], "{\"type\":\"string\",\"enum\":[\"push\",\"pop\"],\"default\":\"push\"}");
    prints(&rows[8], "{\"type\":\"string\",\"enum\":[\"push\",\"pop\"]}");
}

static void the_object_keeps_the_order_of_the_rows(void **state)
{
    static const struct al_param rows[] = {
        AL_STRING(struct args, type, "T.", .flags = AL_PARAM_REQUIRED, .max_bytes = 9),
        AL_BOOL(struct args, cached, "C.", .default_int = 0),
        AL_STRING(struct args, message, "M.", .flags = AL_PARAM_REQUIRED, .max_bytes = 9),
    };
    const struct al_tool tool = { .params = rows, .nparams = COUNT(rows) };
    al_auto(al_json_decrefp) json_t *schema = al_tool_schema(&tool, &defaults);
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    al_json_dump(schema, false, &out);
    assert_string_equal(
        out.buf, "{\"type\":\"object\",\"properties\":{"
                 "\"type\":{\"type\":\"string\",\"description\":\"T.\"},"
                 "\"cached\":{\"type\":\"boolean\",\"default\":false,\"description\":\"C.\"},"
                 "\"message\":{\"type\":\"string\",\"description\":\"M.\"}},"
                 "\"required\":[\"type\",\"message\"],\"additionalProperties\":false}");
}

static void a_default_target_makes_parameters_optional(void **state)
{
    static const struct al_param rows[] = {
        AL_STRING(struct args, type, "T.", .flags = AL_PARAM_REQUIRED | AL_PARAM_DEFAULT_TARGET,
                  .max_bytes = 9),
        AL_STRING(struct args, message, "M.", .flags = AL_PARAM_REQUIRED, .max_bytes = 9),
    };
    const struct al_tool tool = {
        .name = "t", .params = rows, .nparams = COUNT(rows), .args_size = sizeof(struct args)
    };
    const struct al_tool_defaults with = { .has_target = true };
    al_auto(al_json_decrefp) json_t *without = al_tool_schema(&tool, &defaults);
    al_auto(al_json_decrefp) json_t *schema = al_tool_schema(&tool, &with);
    al_auto(al_json_decrefp) json_t *arguments = al_json_object();
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct args args;

    (void)state;
    assert_int_equal(json_array_size(json_object_get(without, "required")), 2);
    assert_int_equal(json_array_size(json_object_get(schema, "required")), 1);
    al_json_set(arguments, "message", al_json_string("m"));
    assert_int_equal(al_tool_decode(&tool, arguments, &defaults, &args, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "type is required");
    assert_int_equal(al_tool_decode(&tool, arguments, &with, &args, &err), 0);
    assert_null(args.type);
    al_tool_args_clear(&tool, &args);
    assert_int_equal(al_tool_decode(&tool, NULL, &with, &args, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "message is required");
}

static void a_tool_without_required_parameters_prints_no_list(void **state)
{
    const struct al_tool tool = { .name = "bare" };
    al_auto(al_json_decrefp) json_t *schema = al_tool_schema(&tool, &defaults);
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    al_json_dump(schema, false, &out);
    assert_string_equal(out.buf,
                        "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}");
}

static bool hint(const struct al_tool *tool, const char *name)
{
    al_auto(al_json_decrefp) json_t *hints = al_tool_annotations(tool, true);

    assert_int_equal(json_object_size(hints), 4);
    assert_true(json_is_boolean(json_object_get(hints, name)));
    return json_is_true(json_object_get(hints, name));
}

static void hints_come_from_all_operations_together(void **state)
{
    static const struct al_operation list[] = { { .name = "list", .effects = AL_READS } };
    static const struct al_operation both[] = {
        { .name = "drop", .effects = AL_WRITES_REFS | AL_DISCARDS_WORK },
        { .name = "list", .effects = AL_READS },
    };
    const struct al_tool reader = { .operations = list, .noperations = COUNT(list) };
    const struct al_tool writer = { .operations = both, .noperations = COUNT(both) };

    (void)state;
    assert_int_equal(al_tool_effects(&writer), AL_READS | AL_WRITES_REFS | AL_DISCARDS_WORK);
    assert_true(hint(&reader, "readOnlyHint"));
    assert_false(hint(&reader, "destructiveHint"));
    assert_false(hint(&reader, "openWorldHint"));
    assert_false(hint(&writer, "readOnlyHint"));
    assert_true(hint(&writer, "destructiveHint"));
}

static void an_operation_asks_by_its_word_else_by_its_effects(void **state)
{
    static const struct {
        unsigned effects;
        enum al_asks asks;
        bool does, unsaved;
    } facts[] = {
        { AL_READS, AL_ASKS_BY_EFFECTS, false, false },
        { AL_WRITES_REFS, AL_ASKS_BY_EFFECTS, true, false },
        { AL_USES_NETWORK, AL_ASKS_BY_EFFECTS, false, false },
        { AL_READS, AL_ASKS_ALWAYS, true, false },
        { AL_WRITES_REFS, AL_ASKS_ALWAYS, true, false },
        { AL_WRITES_REFS | AL_DISCARDS_WORK, AL_ASKS_NEVER, false, false },
        { AL_WRITES_REFS | AL_DISCARDS_WORK, AL_ASKS_UNLESS_SAVED, false, false },
        { AL_WRITES_REFS | AL_DISCARDS_WORK, AL_ASKS_UNLESS_SAVED, true, true },
        { AL_WRITES_REFS, AL_ASKS_BY_EFFECTS, true, true },
        { AL_READS, AL_ASKS_UNLESS_SAVED, false, true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        const struct al_operation rows[] = {
            { .name = "one", .effects = AL_READS },
            { .name = "two", .effects = facts[i].effects, .asks = facts[i].asks },
        };
        const struct al_tool tool = { .operations = rows, .noperations = COUNT(rows) };

        assert_int_equal(al_operation_asks(&rows[1], AL_APPROVAL_ASK, !facts[i].unsaved),
                         facts[i].does);
        assert_int_equal(al_tool_asks(&tool, !facts[i].unsaved), facts[i].does);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_speaking_name_has_no_description),
        cmocka_unit_test(booleans_print_their_default),
        cmocka_unit_test(integers_print_bounds_and_asked_for_defaults),
        cmocka_unit_test(configured_defaults_are_the_ones_printed),
        cmocka_unit_test(strings_print_their_rules_but_not_their_caps),
        cmocka_unit_test(the_object_keeps_the_order_of_the_rows),
        cmocka_unit_test(a_default_target_makes_parameters_optional),
        cmocka_unit_test(a_tool_without_required_parameters_prints_no_list),
        cmocka_unit_test(hints_come_from_all_operations_together),
        cmocka_unit_test(an_operation_asks_by_its_word_else_by_its_effects),
    };

    return cmocka_run_group_tests_name("tool/schema", tests, NULL, NULL);
}
