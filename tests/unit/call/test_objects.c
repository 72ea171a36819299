// SPDX-License-Identifier: Apache-2.0
/* Parameters that are arrays of objects: their schema, decoding, faults, and branches. */
#include "call/private.h"
#include "tests/lib/assert.h"
#include "tests/tables/self_check.h"

struct step {
    bool given;
    int action;
    const char *commit, *new_message;
    struct al_strv files;
};

struct args {
    const char *working_dir;
    struct al_objects plan;
};

static const struct al_choice actions[] = { { "pick", 0 }, { "drop", 1 }, { NULL, 0 } };

static const struct al_param members[] = {
    AL_STRING(struct step, commit, "Commit.", .flags = AL_PARAM_REQUIRED | AL_PARAM_BRANCH,
              .min_bytes = 1, .max_bytes = 8),
    AL_CHOICE(struct step, action, "What to do.", .choices = actions, .default_int = 0),
    AL_STRING(struct step, new_message, "Message.", .max_bytes = 8),
    AL_STRINGS(struct step, files, "Files.", .max = 2, .max_bytes = 4),
};
static const struct al_object step = { members, AL_COUNT(members), sizeof(struct step) };

static const struct al_param rows[] = {
    AL_OBJECTS(struct args, plan, "The plan.", step, .min = 1, .max = 3),
};

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const void *args = al_call_args(call);
    (void)call, (void)args, (void)result, (void)err;
    return 0;
}

static const struct al_operation reads[] = {
    { .name = "list", .effects = AL_READS, .execute = execute },
};

static const struct al_tool sample = {
    .name = "sample",
    .title = "Sample",
    .about = "Does nothing.",
    .params = rows,
    .nparams = AL_COUNT(rows),
    .args_size = sizeof(struct args),
    .operations = reads,
    .noperations = 1,
    .working_dir_offset = offsetof(struct args, working_dir),
};

static const struct al_tool_defaults defaults = { .timeout_ms = 20000, .max_bytes = 7000 };

static const struct step *step_at(const struct args *args, size_t i)
{
    return al_args_item(&rows[0], &args->plan, i);
}

static void the_schema_has_the_members_of_an_item(void **state)
{
    al_auto(al_json_decrefp) json_t *schema = al_tool_schema(&sample, &defaults);
    json_t *plan = json_object_get(json_object_get(schema, "properties"), "plan");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    (void)state;
    al_json_dump(plan, false, &text);
    assert_string_equal(
        text.buf,
        "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
        "\"commit\":{\"type\":\"string\",\"minLength\":1,\"description\":\"Commit.\"},"
        "\"action\":{\"type\":\"string\",\"enum\":[\"pick\",\"drop\"],\"default\":\"pick\","
        "\"description\":\"What to do.\"},"
        "\"new_message\":{\"type\":\"string\",\"description\":\"Message.\"},"
        "\"files\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"Files.\"}}"
        ",\"required\":[\"commit\"],\"additionalProperties\":false},\"minItems\":1,"
        "\"description\":\"The plan.\"}");
}

static void items_reach_their_fields(void **state)
{
    al_auto(al_json_decrefp) json_t *json =
        json_loads("{\"plan\":[{\"commit\":\"a\",\"files\":[\"x\",\"y\"]},"
                   "{\"commit\":\"b\",\"action\":\"drop\",\"newMessage\":\"m\"}]}",
                   0, NULL);
    struct args args;

    (void)state;
    assert_int_equal(al_tool_decode(&sample, json, &defaults, &args, NULL), 0);
    assert_int_equal(args.plan.count, 2);
    assert_true(step_at(&args, 0)->given);
    assert_string_equal(step_at(&args, 0)->commit, "a");
    assert_int_equal(step_at(&args, 0)->action, 0);
    assert_int_equal(step_at(&args, 0)->files.count, 2);
    assert_null(step_at(&args, 0)->new_message);
    assert_string_equal(step_at(&args, 1)->commit, "b");
    assert_int_equal(step_at(&args, 1)->action, 1);
    assert_string_equal(step_at(&args, 1)->new_message, "m");
    al_tool_args_clear(&sample, &args);
    assert_int_equal(args.plan.count, 0);
    assert_null(args.plan.items);
}

static void decodes(const char *text, size_t expected)
{
    al_auto(al_json_decrefp) json_t *json = json_loads(text, 0, NULL);
    struct args args;

    assert_int_equal(al_tool_decode(&sample, json, &defaults, &args, NULL), 0);
    assert_int_equal(args.plan.count, expected);
    al_tool_args_clear(&sample, &args);
}

static void says(const char *text, const char *message)
{
    static const struct args nothing;
    al_auto(al_json_decrefp) json_t *json = json_loads(text, JSON_ALLOW_NUL, NULL);
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct args args;

    assert_non_null(json);
    assert_int_equal(al_tool_decode(&sample, json, &defaults, &args, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, message);
    assert_memory_equal(&args, &nothing, sizeof(nothing)); /* nothing left to release */
}

static void the_number_of_items_is_bounded(void **state)
{
    (void)state;
    decodes("{}", 0);
    says("{\"plan\":[]}", "plan must contain at least 1 element(s)");
    decodes("{\"plan\":[{\"commit\":\"a\"}]}", 1);
    decodes("{\"plan\":[{\"commit\":\"a\"},{\"commit\":\"b\"}]}", 2);
    decodes("{\"plan\":[{\"commit\":\"a\"},{\"commit\":\"b\"},{\"commit\":\"c\"}]}", 3);
    says("{\"plan\":[{\"commit\":\"a\"},{\"commit\":\"b\"},{\"commit\":\"c\"},{\"commit\":\"d\"}]}",
         "plan cannot contain more than 3 elements");
}

static void messages_name_the_item_and_the_member(void **state)
{
    (void)state;
    says("{\"plan\":{}}", "Invalid arguments: 'plan' must be an array of objects");
    says("{\"plan\":null}", "Invalid arguments: 'plan' must be an array of objects");
    says("{\"plan\":[\"a\"]}", "Invalid arguments: 'plan[0]' must be an object");
    says("{\"plan\":[{\"commit\":\"a\"},[]]}", "Invalid arguments: 'plan[1]' must be an object");
    says("{\"plan\":[{\"commit\":\"a\",\"files\":[\"x\"]},{}]}", "plan[1].commit is required");
    says("{\"plan\":[{\"commit\":\"a\",\"do\":\"x\"}]}",
         "Invalid arguments: unknown parameter 'plan[0].do' (plan[0] takes: commit, action, "
         "new_message, files)");
    says("{\"plan\":[{\"commit\":\"a\",\"newMessage\":\"x\",\"new_message\":\"y\"}]}",
         "Invalid arguments: 'plan[0].newMessage' and 'plan[0].new_message' are the same "
         "parameter; give one of them");
    says("{\"plan\":[{\"commit\":\"123456789\"}]}", "plan[0].commit cannot be longer than 8 bytes");
    says("{\"plan\":[{\"commit\":\"a\\u0000\"}]}",
         "Invalid arguments: 'plan[0].commit' contains a NUL character");
    says("{\"plan\":[{\"commit\":\"a\",\"action\":\"x\"}]}",
         "Invalid arguments: 'plan[0].action' must be one of: pick, drop");
    /* a list that was filled before the fault is released */
    says("{\"plan\":[{\"commit\":\"a\",\"files\":[\"a\",\"12345\"]}]}",
         "plan[0].files cannot be longer than 4 bytes");
}

static void members_of_items_are_branches_for_policy(void **state)
{
    al_auto(al_json_decrefp) json_t *json =
        json_loads("{\"plan\":[{\"commit\":\"a\"},{\"commit\":\"b\"}]}", 0, NULL);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct args args;
    struct al_call call = { .tool = &sample, .args = &args };

    (void)state;
    assert_int_equal(al_tool_decode(&sample, json, &defaults, &args, NULL), 0);
    al_call_named(&call, AL_PARAM_BRANCH, &names);
    assert_int_equal(names.count, 2);
    assert_string_equal(names.items[0], "a");
    assert_string_equal(names.items[1], "b");
    al_tool_args_clear(&sample, &args);
}

static void finds(const struct al_param *row, const char *expected)
{
    struct al_tool tool = sample;

    tool.params = row;
    tool.nparams = 1;
    al_auto(al_freep) char *fault = al_tool_self_check(&tool);
    if (!expected)
        assert_null(fault);
    else
        assert_string_equal(fault, expected);
}

static void faults_are_found(void **state)
{
    const struct al_param boundless = AL_OBJECTS(struct args, plan, "P.", step, .flags = 0);
    const struct al_param reversed = AL_OBJECTS(struct args, plan, "P.", step, .min = 2, .max = 1);
    struct al_param inner = AL_OBJECTS(struct args, plan, "P.", step, .max = 1);
    const struct al_object outer_object = { &inner, 1, sizeof(struct step) };
    const struct al_param outer = AL_OBJECTS(struct args, plan, "P.", outer_object, .max = 1);
    struct al_param empty = AL_OBJECTS(struct args, plan, "P.", step, .max = 1);

    (void)state;
    empty.object = NULL;
    finds(&rows[0], NULL);
    finds(&boundless, NULL);
    finds(&reversed, "parameter 'plan' has a min outside 0..max");
    finds(&outer, NULL);
    inner.min = 2;
    finds(&outer, "parameter 'plan' has a member 'plan' has a min outside 0..max");
    finds(&empty, "parameter 'plan' is an object without members");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_has_the_members_of_an_item),
        cmocka_unit_test(items_reach_their_fields),
        cmocka_unit_test(the_number_of_items_is_bounded),
        cmocka_unit_test(messages_name_the_item_and_the_member),
        cmocka_unit_test(members_of_items_are_branches_for_policy),
        cmocka_unit_test(faults_are_found),
    };

    return cmocka_run_group_tests_name("tool/objects", tests, NULL, NULL);
}
