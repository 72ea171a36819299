// SPDX-License-Identifier: Apache-2.0
/* Parameters of type object: their schema, their decoding, their faults, and their branches. */
#include "call/private.h"
#include "tests/lib/assert.h"
#include "tests/tables/self_check.h"

struct place {
    bool given;
    int type;
    const char *path, *branch;
    struct al_strv files;
};

struct args {
    const char *message, *working_dir;
    struct place target;
};

static const struct al_choice types[] = { { "local", 0 }, { "bare", 1 }, { NULL, 0 } };

static const struct al_param members[] = {
    AL_CHOICE(struct place, type, "Kind.", .choices = types, .flags = AL_PARAM_REQUIRED),
    AL_STRING(struct place, path, "Path.", .default_str = ".", .flags = AL_PARAM_HAS_DEFAULT,
              .max_bytes = 8),
    AL_STRING(struct place, branch, "Branch.", .flags = AL_PARAM_BRANCH, .max_bytes = 8),
    AL_STRINGS(struct place, files, "Files.", .max = 2, .max_bytes = 4),
};
static const struct al_object place = { members, AL_COUNT(members), sizeof(struct place) };

static const struct al_param rows[] = {
    AL_STRING(struct args, message, "Message.", .flags = AL_PARAM_BRANCH, .max_bytes = 8),
    AL_OBJECT(struct args, target, "Where to.", place, .flags = 0),
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

static void the_schema_has_the_members(void **state)
{
    al_auto(al_json_decrefp) json_t *schema = al_tool_schema(&sample, &defaults);
    json_t *target = json_object_get(json_object_get(schema, "properties"), "target");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    (void)state;
    al_json_dump(target, false, &text);
    assert_string_equal(
        text.buf,
        "{\"type\":\"object\",\"properties\":{"
        "\"type\":{\"type\":\"string\",\"enum\":[\"local\",\"bare\"],\"description\":\"Kind.\"},"
        "\"path\":{\"type\":\"string\",\"default\":\".\",\"description\":\"Path.\"},"
        "\"branch\":{\"type\":\"string\",\"description\":\"Branch.\"},"
        "\"files\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"Files.\"}}"
        ","
        "\"required\":[\"type\"],\"additionalProperties\":false,\"description\":\"Where to.\"}");
}

static void an_absent_object_has_its_defaults(void **state)
{
    struct args args;

    (void)state;
    assert_int_equal(al_tool_decode(&sample, NULL, &defaults, &args, NULL), 0);
    assert_false(args.target.given);
    assert_string_equal(args.target.path, ".");
    assert_null(args.target.branch);
    al_tool_args_clear(&sample, &args);
}

static void members_reach_their_fields(void **state)
{
    al_auto(al_json_decrefp) json_t *json = json_loads(
        "{\"target\":{\"type\":\"bare\",\"path\":\"a\",\"files\":[\"x\",\"y\"]}}", 0, NULL);
    struct args args;

    (void)state;
    assert_int_equal(al_tool_decode(&sample, json, &defaults, &args, NULL), 0);
    assert_true(args.target.given);
    assert_int_equal(args.target.type, 1);
    assert_string_equal(args.target.path, "a");
    assert_null(args.target.branch);
    assert_int_equal(args.target.files.count, 2);
    al_tool_args_clear(&sample, &args);
    assert_int_equal(args.target.files.count, 0);
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

static void messages_name_the_member(void **state)
{
    (void)state;
    says("{\"target\":\"local\"}", "Invalid arguments: 'target' must be an object");
    says("{\"target\":[]}", "Invalid arguments: 'target' must be an object");
    says("{\"target\":null}", "Invalid arguments: 'target' must be an object");
    says("{\"target\":{}}", "target.type is required");
    says("{\"target\":{\"type\":\"svn\"}}",
         "Invalid arguments: 'target.type' must be one of: local, bare");
    says("{\"target\":{\"type\":\"bare\",\"branch\":1}}",
         "Invalid arguments: 'target.branch' must be a string");
    says("{\"target\":{\"type\":\"bare\",\"branch\":{}}}",
         "Invalid arguments: 'target.branch' must be a string");
    says("{\"target\":{\"type\":\"bare\",\"branch\":\"123456789\"}}",
         "target.branch cannot be longer than 8 bytes");
    says("{\"target\":{\"type\":\"bare\",\"branch\":\"a\\u0000\"}}",
         "Invalid arguments: 'target.branch' contains a NUL character");
    says("{\"target\":{\"type\":\"bare\",\"files\":[\"a\",\"b\",\"c\"]}}",
         "target.files cannot contain more than 2 elements");
    says("{\"target\":{\"type\":\"bare\",\"Branch\":\"a\",\"x\":1}}",
         "Invalid arguments: unknown parameter 'target.Branch'; did you mean 'target.branch'? "
         "(target takes: type, path, branch, files)");
    says("{\"target\":{\"type\":\"bare\",\"message\":\"a\"}}",
         "Invalid arguments: unknown parameter 'target.message' (target takes: type, path, branch, "
         "files)");
    says("{\"branch\":\"a\"}",
         "Invalid arguments: unknown parameter 'branch' (sample takes: message, target)");
    /* a list that was filled before the fault is released */
    says("{\"target\":{\"type\":\"bare\",\"files\":[\"a\",\"12345\"]}}",
         "target.files cannot be longer than 4 bytes");
}

static void branches(const char *text, const char *expected)
{
    al_auto(al_json_decrefp) json_t *json = json_loads(text, 0, NULL);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str joined = AL_STR_INIT;
    struct args args;
    struct al_call call = { .tool = &sample, .args = &args };

    assert_int_equal(al_tool_decode(&sample, json, &defaults, &args, NULL), 0);
    al_call_named(&call, AL_PARAM_BRANCH, &names);
    for (size_t i = 0; i < names.count; i++)
        al_str_addf(&joined, "%s ", names.items[i]);
    assert_string_equal(joined.buf ? joined.buf : "", expected);
    al_tool_args_clear(&sample, &args);
}

static void a_member_is_a_branch_for_policy(void **state)
{
    (void)state;
    branches("{}", "");
    branches("{\"target\":{\"type\":\"local\"}}", "");
    branches("{\"target\":{\"type\":\"local\",\"branch\":\"main\"}}", "main ");
    branches("{\"message\":\"x\",\"target\":{\"type\":\"local\",\"branch\":\"main\"}}", "x main ");
}

static void finds(const struct al_object *object, const char *expected)
{
    struct al_param row = AL_OBJECT(struct args, target, "T.", place, .flags = 0);
    struct al_tool tool = sample;

    row.object = object;
    tool.params = &row;
    tool.nparams = 1;
    al_auto(al_freep) char *fault = al_tool_self_check(&tool);
    if (!expected) {
        assert_null(fault);
        return;
    }
    assert_non_null(fault);
    assert_string_equal(fault, expected);
}

static void finds_member(const struct al_param *member, const char *expected)
{
    const struct al_object object = { member, 1, sizeof(struct place) };
    al_auto(al_freep) char *whole =
        expected ? al_asprintf("parameter 'target' has a member '%s' %s", member->name, expected)
                 : NULL;

    finds(&object, whole);
}

static void faults_of_members_are_found(void **state)
{
    const struct al_param inner = AL_OBJECT(struct args, target, "T.", place, .flags = 0);
    const struct al_param sound = AL_STRING(struct place, path, "P.", .max_bytes = 4);
    const struct al_param path =
        AL_STRING(struct place, path, "P.", .flags = AL_PARAM_PATH, .max_bytes = 4);
    const struct al_param every_path =
        AL_STRING(struct place, path, "P.", .flags = AL_PARAM_EVERY_PATH, .max_bytes = 4);
    const struct al_param unbounded = AL_STRING(struct place, path, "P.", .flags = 0);
    const struct al_param silent = AL_STRING(struct place, path, "", .max_bytes = 4);
    const struct al_param given = AL_BOOL(struct place, given, "G.", .flags = 0);
    const struct al_object none = { members, 0, sizeof(struct place) };
    const struct al_object small = { members, AL_COUNT(members), sizeof(struct place) - 1 };
    const struct al_object large = { members, AL_COUNT(members), sizeof(struct args) };

    (void)state;
    finds(&place, NULL);
    finds_member(&sound, NULL);
    finds_member(&inner, "is an object in an object");
    finds_member(&path, NULL);
    finds_member(&every_path, "has a flag that is not for members of an object");
    finds_member(&unbounded, NULL);
    finds_member(&silent, "has no description");
    finds_member(&given, "lies where the object says whether it is given");
    finds(NULL, "parameter 'target' is an object without members");
    finds(&none, "parameter 'target' is an object without members");
    finds(&small, "parameter 'target' has a member 'files' lies outside the arguments");
    finds(&large, "parameter 'target' lies outside the arguments");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_has_the_members),
        cmocka_unit_test(an_absent_object_has_its_defaults),
        cmocka_unit_test(members_reach_their_fields),
        cmocka_unit_test(messages_name_the_member),
        cmocka_unit_test(a_member_is_a_branch_for_policy),
        cmocka_unit_test(faults_of_members_are_found),
    };

    return cmocka_run_group_tests_name("tool/object", tests, NULL, NULL);
}
