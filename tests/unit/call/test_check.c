// SPDX-License-Identifier: Apache-2.0
/* tests/tables/self_check.c: for every rule one broken table, and a sound one next to it. */
#include "tests/unit/call/check_lib.h"

static void finds_in_rows(const struct al_param *rows, size_t count, const char *expected)
{
    struct al_tool tool = sound_tool();

    tool.params = rows;
    tool.nparams = count;
    finds(&tool, expected);
}

#define LONG_TEXT(n)                                                                               \
    (memset(long_text, 'a', sizeof(long_text)), long_text[n] = '\0', long_text[(n)-1] = '.',       \
     long_text)
static char long_text[512];

static void the_tool_itself(void **state)
{
    struct al_tool tool = sound_tool();

    (void)state;
    finds(&tool, NULL);
    tool.name = "";
    finds(&tool, "tool '' has a name that is not 1 to 64 letters, digits, '_' and '-'");
    tool.name = "git status";
    finds(&tool, "tool 'git status' has a name that is not 1 to 64 letters, digits, '_' and '-'");
    tool.name = "a123456789b123456789c123456789d123456789e123456789f123456789g123";
    finds(&tool, NULL);
    tool.name = "a123456789b123456789c123456789d123456789e123456789f123456789g1234";
    finds(&tool, "tool 'a123456789b123456789c123456789d123456789e123456789f123456789g1234' has a "
                 "name that is not 1 to 64 letters, digits, '_' and '-'");

    tool = sound_tool();
    tool.title = "";
    finds(&tool, "tool 'sample_tool-1' has no title");
    tool = sound_tool();
    tool.about = "";
    finds(&tool, "tool 'sample_tool-1' has no description");
    tool.about = "No period";
    finds(&tool, "tool 'sample_tool-1' has a description without a final period");
    tool.about = LONG_TEXT(400);
    finds(&tool, NULL);
    tool.about = LONG_TEXT(401);
    finds(&tool, "tool 'sample_tool-1' has a description of more than 400 bytes");

    tool = sound_tool();
    tool.output_schema = "{\"type\":\"object\"}";
    finds(&tool, NULL);
    tool.output_schema = "[\"string\"]";
    finds(&tool, "tool 'sample_tool-1' has an output schema that is no JSON object");
    tool.output_schema = "{\"type\":\"object\"";
    finds(&tool, "tool 'sample_tool-1' has an output schema that is no JSON object");
}

static void a_tool_without_a_repository(void **state)
{
    static const char words[] = "tool 'sample_tool-1' has no repository and needs one";
    static const struct al_param rows[] = {
        AL_STRING(struct args, text, "A name.", .max_bytes = 9, .flags = AL_PARAM_NAME),
        AL_STRING(struct args, text, "A path.", .max_bytes = 9, .flags = AL_PARAM_PATH),
        AL_STRING(struct args, text, "A path.", .max_bytes = 9, .flags = AL_PARAM_OUTPUT),
        AL_BOOL(struct args, flag, "All.", .flags = AL_PARAM_EVERY_PATH),
    };
    static const struct al_operation writes[] = {
        { .name = "write", .effects = AL_WRITES_FILES | AL_DISCARDS_WORK, .execute = execute },
        { .name = "stage", .effects = AL_WRITES_INDEX, .execute = execute },
    };
    struct al_tool sound = sound_tool();

    (void)state;
    sound.open_repository = al_call_without_repository;
    sound.nparams = 1;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_tool tool = sound;

        tool.params = &rows[i];
        finds(&tool, i ? words : NULL);
    }
    for (size_t i = 0; i < COUNT(writes); i++) {
        struct al_tool tool = sound;

        tool.nparams = 0;
        tool.operations = &writes[i];
        tool.summarize = summarize;
        finds(&tool, i ? words : NULL);
    }
    sound.nparams = 0;
    finds(&sound, NULL);
    sound.moves_branch = true;
    finds(&sound, words);
    sound.moves_branch = false;
    sound.runs_at_top = true;
    finds(&sound, words);
}

static void the_number_of_rows(void **state)
{
    struct args_many {
        bool field[AL_PARAMS_MAX + 1];
    };
    static char names[AL_PARAMS_MAX + 1][8];
    struct al_param rows[AL_PARAMS_MAX + 1];
    struct al_tool tool = sound_tool();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        (void)snprintf(names[i], sizeof(names[i]), "p%zu", i);
        rows[i] = (struct al_param){ .name = names[i], .about = "A.", .offset = i };
    }
    tool.args_size = sizeof(struct args_many);
    tool.params = rows;
    tool.nparams = AL_PARAMS_MAX;
    finds(&tool, NULL);
    tool.nparams++;
    finds(&tool, "tool 'sample_tool-1' has more than 32 parameters");
}

struct broken_row {
    struct al_param row;
    const char *fault; /* what follows the name; NULL: none */
};

static void check_rows(const struct broken_row *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        al_auto(al_freep) char *expected =
            cases[i].fault ? al_asprintf("parameter '%s' %s", cases[i].row.name, cases[i].fault)
                           : NULL;

        print_message("# %s\n", expected ? expected : "sound");
        finds_in_rows(&cases[i].row, 1, expected);
    }
}

static void names_and_descriptions(void **state)
{
    static const char bad_name[] = "has a name that is not letters, digits and underscores";
    const struct broken_row cases[] = {
        { { .name = "dryRun_2", .about = "D." }, NULL },
        { { .name = "", .about = "D." }, bad_name },
        { { .name = "2d", .about = "D." }, bad_name },
        { { .name = "_x", .about = "D." }, bad_name },
        { { .name = "dry-run", .about = "D." }, bad_name },
        { { .name = "flag", .about = "" }, "has no description" },
        { { .name = "flag" }, NULL },
        { { .name = "flag", .about = "No period" }, "has a description without a final period" },
        { { .name = "flag", .about = LONG_TEXT(160) }, NULL },
    };

    (void)state;
    check_rows(cases, COUNT(cases));

    const struct broken_row too_long = { { .name = "flag", .about = LONG_TEXT(161) },
                                         "has a description of more than 160 bytes" };
    check_rows(&too_long, 1);
}

static void integers(void **state)
{
    const struct broken_row cases[] = {
        { AL_INT(struct args, n, "N.", .max = 1), NULL },
        { AL_INT(struct args, n, "N.", .default_int = 0), "needs a min below its max" },
        { AL_INT(struct args, n, "N.", .min = 2, .max = 1), "needs a min below its max" },
        { AL_INT(struct args, n, "N.", .max = INT64_C(1) << 53), NULL },
        { AL_INT(struct args, n, "N.", .max = (INT64_C(1) << 53) + 1), "has a bound beyond 2^53" },
        { AL_INT(struct args, n, "N.", .min = -(INT64_C(1) << 53) - 1), "has a bound beyond 2^53" },
        { AL_INT(struct args, n, "N.", .min = 1, .max = 5, .default_int = 5,
                 .flags = AL_PARAM_HAS_DEFAULT),
          NULL },
        { AL_INT(struct args, n, "N.", .min = 1, .max = 5, .flags = AL_PARAM_HAS_DEFAULT),
          "has a default outside its bounds" },
        { AL_INT(struct args, n, "N.", .min = 1, .max = 5, .default_int = 6),
          "has a default outside its bounds" },
        { AL_INT(struct args, n, "N.", .min = 1, .max = 5, .flags = AL_PARAM_MAX_BYTES), NULL },
        { AL_INT(struct args, n, "N.", .min = 1, .max = 5, .default_int = 2,
                 .flags = AL_PARAM_MAX_BYTES),
          "has a default of its own beside the configured one" },
    };

    (void)state;
    check_rows(cases, COUNT(cases));
}

static void strings_and_lists(void **state)
{
    const struct broken_row cases[] = {
        { AL_STRING(struct args, text, "T.", .max_bytes = 4), NULL },
        { AL_STRING(struct args, text, NULL), NULL },
        { AL_STRING(struct args, text, "T.", .min_bytes = 5, .max_bytes = 4),
          "has min_bytes above max_bytes" },
        { AL_STRING(struct args, text, "T.", .max_bytes = 4, .flags = AL_PARAM_HAS_DEFAULT),
          "says that it has a default and has none" },
        { AL_STRING(struct args, text, "T.", .max_bytes = 4, .default_str = "HEAD"), NULL },
        { AL_STRING(struct args, text, "T.", .max_bytes = 3, .default_str = "HEAD"),
          "has a default that breaks its own rules" },
        { AL_STRING(struct args, text, "T.", .max_bytes = 4, .default_str = "HEAD",
                    .pattern = "^[a-z]+$"),
          "has a default that breaks its own rules" },
        { AL_STRINGS(struct args, list, "L.", .max = 1, .max_bytes = 4), NULL },
        { AL_STRINGS(struct args, list, "L."), NULL },
        { AL_STRINGS(struct args, list, "L.", .min = 2, .max = 1, .max_bytes = 4),
          "has a min outside 0..max" },
        { AL_STRINGS(struct args, list, "L.", .min = -1, .max = 1, .max_bytes = 4),
          "has a min outside 0..max" },
        { AL_STRINGS(struct args, list, "L.", .max = 1, .max_bytes = 4, .default_str = "x"),
          "is a list with a default" },
    };

    (void)state;
    check_rows(cases, COUNT(cases));
}

static void choices(void **state)
{
    static const struct al_choice none[] = { { NULL, 0 } };
    static const struct al_choice two[] = { { "a", 1 }, { "b", 2 }, { NULL, 0 } };
    static const struct al_choice same_name[] = { { "a", 0 }, { "a", 1 }, { NULL, 0 } };
    static const struct al_choice same_value[] = { { "a", 0 }, { "b", 0 }, { NULL, 0 } };
    const struct broken_row cases[] = {
        { AL_CHOICE(struct args, choice, "C.", .choices = two, .default_int = 2), NULL },
        { AL_CHOICE(struct args, choice, "C.", .choices = two, .flags = AL_PARAM_REQUIRED), NULL },
        { AL_CHOICE(struct args, choice, "C.", .choices = two),
          "has a default outside its choices" },
        { AL_CHOICE(struct args, choice, "C.", .default_int = 0), "has no choices" },
        { AL_CHOICE(struct args, choice, "C.", .choices = none), "has no choices" },
        { AL_CHOICE(struct args, choice, "C.", .choices = same_name), "has the choice 'a' twice" },
        { AL_CHOICE(struct args, choice, "C.", .choices = same_value), "has the choice 'b' twice" },
    };

    (void)state;
    check_rows(cases, COUNT(cases));
}

static void flags(void **state)
{
    const struct broken_row cases[] = {
        { AL_BOOL(struct args, flag, "F.", .flags = AL_PARAM_REQUIRED), NULL },
        { AL_BOOL(struct args, flag, "F.", .flags = AL_PARAM_REQUIRED, .default_int = 1),
          "is required and has a default" },
        { AL_STRING(struct args, text, "T.", .flags = AL_PARAM_REQUIRED, .max_bytes = 4,
                    .default_str = "x"),
          "is required and has a default" },
        { AL_INT(struct args, n, "N.", .flags = AL_PARAM_REQUIRED | AL_PARAM_MAX_BYTES, .min = 1,
                 .max = 4),
          "is required and has a default" },
        { AL_BOOL(struct args, flag, "F.", .flags = AL_PARAM_REQUIRED | AL_PARAM_DEFAULT_TARGET),
          NULL },
        { AL_BOOL(struct args, flag, "F.", .flags = AL_PARAM_DEFAULT_TARGET),
          "goes without saying with a default target and is not required" },
        { AL_STRING(struct args, text, "T.", .flags = AL_PARAM_MAX_HIDDEN, .max_bytes = 4),
          "has a flag that is for integers" },
        { AL_BOOL(struct args, flag, "F.", .flags = AL_PARAM_TIMEOUT),
          "has a flag that is for integers" },
        { AL_STRING(struct args, text, "T.", .flags = AL_PARAM_BRANCH, .max_bytes = 4), NULL },
        { AL_BOOL(struct args, flag, "F.", .flags = AL_PARAM_BRANCH), "is a branch and no string" },
        { AL_STRING(struct args, text, "T.", .flags = AL_PARAM_PATH, .max_bytes = 4), NULL },
        { AL_STRINGS(struct args, list, "L.", .flags = AL_PARAM_PATH, .max = 2, .max_bytes = 4),
          NULL },
        { AL_BOOL(struct args, flag, "F.", .flags = AL_PARAM_PATH),
          "is a path and neither a string nor a list" },
        { AL_STRING(struct args, text, "T.", .flags = AL_PARAM_OUTPUT, .max_bytes = 4), NULL },
        { AL_STRINGS(struct args, list, "L.", .flags = AL_PARAM_OUTPUT, .max = 2, .max_bytes = 4),
          "is a directory for files and no string" },
        { AL_BOOL(struct args, flag, "F.", .flags = AL_PARAM_EVERY_PATH), NULL },
        { AL_STRING(struct args, text, "T.", .flags = AL_PARAM_EVERY_PATH, .max_bytes = 4), NULL },
        { AL_STRINGS(struct args, list, "L.", .flags = AL_PARAM_EVERY_PATH, .max = 2,
                     .max_bytes = 4),
          NULL },
        { AL_INT(struct args, timeout_ms, "T.", .flags = AL_PARAM_EVERY_PATH, .min = 1, .max = 2),
          "concerns every path and is no bool, string or list" },
    };

    (void)state;
    check_rows(cases, COUNT(cases));
}

static void places(void **state)
{
    const struct broken_row cases[] = {
        { { .name = "b", .about = "B.", .offset = sizeof(struct args) - 1 }, NULL },
        { { .name = "b", .about = "B.", .offset = sizeof(struct args) },
          "lies outside the arguments" },
        { { .name = "b", .about = "B.", .offset = SIZE_MAX }, "lies outside the arguments" },
        { AL_INT(struct args, timeout_ms, "T.", .flags = AL_PARAM_TIMEOUT, .min = 1, .max = 2),
          NULL },
        { AL_STRING(struct args, working_dir, "W.", .max_bytes = 4), NULL },
        { { .name = "working_dir",
            .about = "W.",
            .type = AL_TYPE_STRING,
            .max_bytes = 4,
            .offset = offsetof(struct args, text) },
          "is not where working_dir_offset points" },
    };
    const struct al_param twice[] = {
        AL_BOOL(struct args, flag, "F.", .default_int = 0),
        { .name = "flag", .about = "F.", .offset = offsetof(struct args, other) },
    };
    const struct al_param shared[] = {
        AL_BOOL(struct args, flag, "F.", .default_int = 0),
        { .name = "other", .about = "O.", .offset = offsetof(struct args, flag) },
    };

    (void)state;
    check_rows(cases, COUNT(cases));
    finds_in_rows(twice, COUNT(twice), "parameter 'flag' is there twice");
    finds_in_rows(shared, COUNT(shared), "parameter 'other' shares its field with 'flag'");
}

static void a_pattern_that_is_refused(void **state)
{
    const struct al_param row =
        AL_STRING(struct args, text, "T.", .max_bytes = 9, .pattern = "[a-z]+$");

    (void)state;
    finds_in_rows(&row, 1, "parameter 'text' has a pattern that is not anchored");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tool_itself),
        cmocka_unit_test(a_tool_without_a_repository),
        cmocka_unit_test(the_number_of_rows),
        cmocka_unit_test(names_and_descriptions),
        cmocka_unit_test(integers),
        cmocka_unit_test(strings_and_lists),
        cmocka_unit_test(choices),
        cmocka_unit_test(flags),
        cmocka_unit_test(places),
        cmocka_unit_test(a_pattern_that_is_refused),
    };

    return cmocka_run_group_tests_name("tool/check", tests, NULL, NULL);
}
