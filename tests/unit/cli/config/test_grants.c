// SPDX-License-Identifier: Apache-2.0
/* cli/config/config.h, [grants.NAME]: names that the user chooses, checked like all others. */
#include "tests/unit/cli/config/lib.h"

static const struct al_grant *grant_of(const struct al_config *config, const char *name)
{
    for (size_t i = 0; i < config->grants.count; i++)
        if (!strcmp(config->grants.items[i].name, name))
            return &config->grants.items[i];
    return NULL;
}

static void takes_grants_by_their_names(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };
    const struct al_grant *grant;

    al_config_init(&config);
    assert_int_equal(config.grants.count, 0);
    assert_null(config.serve.grant);
    assert_reads(state,
                 "[serve]\n"
                 "grant = \"reviewer\"\n"
                 "[grants.reviewer]\n"
                 "tools = [\"Git\", \"git_*\"]\n"
                 "fs = { \"/srv/app\" = \"r\", \"/srv/own.d/\" = \"rw\" }\n"
                 "[grants.anything-1]\n"
                 "[grants.nothing]\n"
                 "tools = []\n"
                 "[grants.nothing.fs]\n",
                 &config);
    assert_string_equal(config.serve.grant, "reviewer");
    assert_int_equal(config.grants.count, 3);
    grant = grant_of(&config, "reviewer");
    assert_true(grant->limits_tools && grant->limits_dirs);
    assert_int_equal(grant->tools.count, 2);
    assert_int_equal(grant->ndirs, 2);
    assert_int_equal(al_grant_check_dir(grant, "/srv/app", true, NULL), AL_ERR_NOT_GRANTED);
    assert_int_equal(al_grant_check_dir(grant, "/srv/own.d", true, NULL), 0);
    grant = grant_of(&config, "anything-1");
    assert_false(grant->limits_tools || grant->limits_dirs);
    grant = grant_of(&config, "nothing");
    assert_true(grant->limits_tools && grant->limits_dirs);
    assert_int_equal(grant->tools.count, 0);
    assert_int_equal(grant->ndirs, 0);
}

static void a_later_file_takes_the_place_of_grants(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    al_config_init(&config);
    assert_reads(state, "[grants.one]\n[grants.two]\n", &config);
    assert_reads(state, "roots = [\"x\"]\n", &config);
    assert_int_equal(config.grants.count, 2);
    assert_reads(state, "[grants.three]\n", &config);
    assert_int_equal(config.grants.count, 1);
    assert_non_null(grant_of(&config, "three"));
}

static void names_what_is_wrong_with_a_grant(void **state)
{
    static const char *const cases[][2] = {
        { "grants = 1", "1: grants: must be a table, not a whole number" },
        { "[[grants]]", "1: grants: must be a table, not a list of tables" },
        { "grants.a = \"r\"", "1: grants.a: must be a table, not a string" },
        { "[[grants.a]]", "1: grants.a: must be a table, not a list of tables" },
        { "[grants.\"a.b\"]",
          "1: grants.\"a.b\": must be named with 1 to 64 letters, digits, '_' and '-'" },
        { "[grants.\"\"]",
          "1: grants.\"\": must be named with 1 to 64 letters, digits, '_' and '-'" },
        { "[grants.a]\ntool = []",
          "2: grants.a.tool: unknown key, did you mean 'grants.NAME.tools'?" },
        { "[grants.a]\n\"x.tools\" = []", "2: grants.a.\"x.tools\": unknown key" },
        { "[grants.a]\ntools = \"x\"",
          "2: grants.a.tools: must be a list of strings, not a string" },
        { "[grants.a]\ntools = [\"x\",\n\"\"]", "3: grants.a.tools: must not be empty" },
        { "[grants.a]\nfs = \"/x\"", "2: grants.a.fs: must be a table, not a string" },
        { "[grants.a]\nfs = [\"/x\"]", "2: grants.a.fs: must be a table, not a list of strings" },
        { "[grants.a.fs]\n\"/x\" = true",
          "2: grants.a.fs.\"/x\": must be a string, not true or false" },
        { "[grants.a.fs]\n\"/x\" = \"x\"", "2: grants.a.fs.\"/x\": must be 'r' or 'rw'" },
        { "[grants.a.fs]\n\"x\" = \"r\"", "2: grants.a.fs.x: must be an absolute path" },
        { "[grants.a.fs]\n\"/x/../y\" = \"r\"",
          "2: grants.a.fs.\"/x/../y\": must not have '.', '..' or empty components" },
        { "[grants.a.fs]\n\"/x\\u0000y\" = \"r\"", "2: grants.a.fs.\"/x: must not contain a NUL" },
        { "[grants.a.fs]\n\"/x\" = \"r\"\n\"/x/\" = \"rw\"",
          "3: grants.a.fs.\"/x/\": is there twice" },
        { "[grants.a.fs.\"/x\"]\ny = \"r\"",
          "1: grants.a.fs.\"/x\": must be a string, not a table" },
        { "[serve]\ngrant = 1", "2: serve.grant: must be a string, not a whole number" },
        { "[serve]\nworker = 1", "2: serve.worker: must be a string, not a whole number" },
        { "[grant.a]", "1: grant: unknown key, did you mean 'grants'?" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# %s\n", cases[i][1]);
        assert_refuses(state, cases[i][0], cases[i][1]);
    }
}

/* `count` lines made from `format`, which contains one number. */
static void add_lines(struct al_str *text, const char *before, const char *after, size_t count)
{
    for (size_t i = 0; i < count; i++)
        al_str_addf(text, "%s%zu%s", before, i, after);
}

static void holds_grants_to_their_bounds(void **state)
{
    static const struct {
        const char *head, *before, *after;
        size_t max;
        const char *complaint;
    } cases[] = {
        { "[grants.a]\ntools = [", "\"t", "\", ", 256,
          "2: grants.a.tools: must have between 0 and 256 items" },
        { "[grants.a.fs]\n", "\"/d", "\" = \"r\"\n", 256, NULL },
        { "", "[grants.g", "]\n", 64, NULL },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t n = cases[i].max - 1; n <= cases[i].max + 1; n++) {
            al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
            al_auto(al_config_clear) struct al_config config = { .file = NULL };
            al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

            print_message("# %zu: %zu\n", i, n);
            al_str_adds(&text, cases[i].head);
            add_lines(&text, cases[i].before, cases[i].after, n);
            al_str_adds(&text, i == 0 ? "]\n" : "");
            al_config_init(&config);
            if (n <= cases[i].max)
                assert_reads(state, text.buf, &config);
            else if (cases[i].complaint)
                assert_refuses(state, text.buf, cases[i].complaint);
            else
                assert_int_equal(read_text(*state, text.buf, &config, &err), AL_ERR_BAD_ARGS);
        }
    }
}

static void holds_names_to_64_bytes(void **state)
{
    for (size_t len = 63; len <= 65; len++) {
        al_auto(al_freep) char *name = al_calloc(len + 1, 1);
        al_auto(al_freep) char *text = NULL;
        al_auto(al_config_clear) struct al_config config = { .file = NULL };
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        memset(name, 'g', len);
        text = al_asprintf("[grants.%s]\n", name);
        al_config_init(&config);
        assert_int_equal(read_text(*state, text, &config, &err), len > 64 ? AL_ERR_BAD_ARGS : 0);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_grants_by_their_names),
        cmocka_unit_test(a_later_file_takes_the_place_of_grants),
        cmocka_unit_test(names_what_is_wrong_with_a_grant),
        cmocka_unit_test(holds_grants_to_their_bounds),
        cmocka_unit_test(holds_names_to_64_bytes),
    };

    return cmocka_run_group_tests_name("config/grants", tests, setup, teardown);
}
