// SPDX-License-Identifier: Apache-2.0
/* staging/settings.h: the default target and the files to pull are read, or refused by key. */
#include "staging/settings.h"

#include "base/str.h"
#include "base/value.h"
#include "tests/lib/assert.h"

#define STAMP "20260102_030405"

static int read_text(const char *text, const char *worker, struct al_staging_settings *settings,
                     struct al_error *err)
{
    al_auto(al_value_clear) struct al_value config = { .type = AL_VALUE_NULL };

    assert_int_equal(al_yaml_read("w", 1, text, strlen(text), &config, err), 0);
    return al_staging_settings_read(&config, worker, STAMP, settings, err);
}

static void reads(const char *text, struct al_staging_settings *settings)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (read_text(text, "report-writer", settings, &err) < 0)
        fail_msg("%s", err.message);
}

static void reads_targets_and_pulls(void **state)
{
    al_auto(al_staging_settings_clear) struct al_staging_settings settings = { .npulls = 0 };

    (void)state;
    reads("default_target:\n"
          "  type: local\n"
          "  path: .\n"
          "  branch: '{worker}/{timestamp}'\n"
          "auto_pull:\n"
          "  - path: templates/\n"
          "  - path: docs/*.md\n"
          "    source: {type: github, repo: user/reports, branch: main}\n",
          &settings);
    assert_true(settings.target.given);
    assert_int_equal(settings.target.type, AL_TARGET_LOCAL);
    assert_string_equal(settings.target.path, ".");
    assert_string_equal(settings.target.branch, "report-writer/" STAMP);
    assert_int_equal(settings.npulls, 2);
    assert_string_equal(settings.pulls[0].path, "templates/");
    assert_false(settings.pulls[0].source.given);
    assert_true(settings.pulls[1].source.given);
    assert_int_equal(settings.pulls[1].source.type, AL_TARGET_GITHUB);
    assert_string_equal(settings.pulls[1].source.repo, "user/reports");
    assert_string_equal(settings.pulls[1].source.branch, "main");
}

static void nothing_is_fine(void **state)
{
    static const char *const texts[] = { "", "{}", "auto_pull: []" };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        al_auto(al_staging_settings_clear) struct al_staging_settings settings = { .npulls = 9 };

        reads(texts[i], &settings);
        assert_false(settings.target.given);
        assert_int_equal(settings.npulls, 0);
    }
}

static void refuses_what_is_wrong_by_its_key(void **state)
{
    static const char *const cases[][2] = {
        { "target: {}", "w:1: target: unknown key" },
        { "[]", "w:1: must be a mapping, not a list" },
        { "default_target: .", "w:1: default_target: must be a mapping, not a string" },
        { "default_target: {}", "w:1: default_target: has no 'type'" },
        { "default_target: {type: gitlab}",
          "w:1: default_target.type: must be 'local', 'local-bare' or 'github'" },
        { "default_target: {type: 1}",
          "w:1: default_target.type: must be a string, not a number; put it in quotes" },
        { "default_target: {type: local}",
          "w:1: default_target: default_target.path is required for type 'local'" },
        { "default_target: {type: github, path: .}",
          "w:1: default_target: default_target.path does not go with type 'github'" },
        { "default_target: {type: local, path: ., repo: a/b}",
          "w:1: default_target: default_target.repo does not go with type 'local'" },
        { "default_target: {type: local, path: ., url: x}",
          "w:1: default_target.url: unknown key" },
        { "default_target:\n  type: local\n  path: .\n  branch: 7",
          "w:4: default_target.branch: must be a string, not a number; put it in quotes" },
        { "default_target:\n  type: local\n  path: .\n  branch: a b",
          "w:4: default_target.branch: 'a b': the name must not contain a space or any of "
          "~ ^ : ? * [ \\" },
        { "default_target:\n  type: local\n  path: .\n  branch: 'x{timestamp}..'",
          "w:4: default_target.branch: 'x" STAMP "..': the name must not contain '..'" },
        { "default_target:\n  type: local\n  path: .\n  branch: 'a-{date}'",
          "w:4: default_target.branch: unknown placeholder '{date}'; there are {timestamp} and "
          "{worker}" },
        { "auto_pull: {}", "w:1: auto_pull: must be a list, not a mapping" },
        { "auto_pull: [x]", "w:1: auto_pull[0]: must be a mapping, not a string" },
        { "auto_pull: [{source: {type: local, path: .}}]", "w:1: auto_pull[0]: has no 'path'" },
        { "auto_pull: [{path: '', source: {type: local, path: .}}]",
          "w:1: auto_pull[0].path: must not be empty" },
        { "auto_pull: [{path: x}]",
          "w:1: auto_pull[0]: needs a 'source': there is no default_target" },
        { "auto_pull: [{path: x, from: y}]", "w:1: auto_pull[0].from: unknown key" },
        { "auto_pull: [{path: x, source: {type: local}}]",
          "w:1: auto_pull[0].source: source.path is required for type 'local'" },
        { "auto_pull: [{path: x, source: {type: local, path: ., branch: '{timestamp}:'}}]",
          "w:1: auto_pull[0].source.branch: '{timestamp}:': the name must not contain a space or "
          "any of ~ ^ : ? * [ \\" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct al_staging_settings settings = { .npulls = 77 };
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(read_text(cases[i][0], "w", &settings, &err), AL_ERR_BAD_ARGS);
        assert_string_equal(err.message, cases[i][1]);
        assert_int_equal(settings.npulls, 77);
    }
}

static void the_number_of_pulls_is_limited(void **state)
{
    (void)state;
    for (size_t count = 63; count <= 65; count++) {
        al_auto(al_staging_settings_clear) struct al_staging_settings settings = { .npulls = 0 };
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        al_str_adds(&text, "default_target: {type: local, path: .}\nauto_pull:\n");
        for (size_t i = 0; i < count; i++)
            al_str_addf(&text, "  - path: d%zu\n", i);
        assert_int_equal(read_text(text.buf, "w", &settings, &err),
                         count <= 64 ? 0 : AL_ERR_BAD_ARGS);
        assert_int_equal(settings.npulls, count <= 64 ? count : 0);
    }
}

static void templates_expand_to_valid_names(void **state)
{
    static const struct {
        const char *text, *worker, *branch;
    } cases[] = {
        { "main", "w", "main" },
        { "worker-{timestamp}", "w", "worker-" STAMP },
        { "{worker}", "report-writer", "report-writer" },
        { "{worker}/{worker}-{timestamp}", "a", "a/a-" STAMP },
        { "{worker}", "Report Writer", "Report-Writer" },
        { "{worker}", "a  b: c?", "a-b-c" },
        { "{worker}", ".hidden", "hidden" },
        { "{worker}", "v1.2", "v1.2" },
        { "{worker}", "a..b", "a-b" },
        { "{worker}", "a.", "a" },
        { "{worker}", "a.lock", "a-lock" },
        { "{worker}", "-x", "x" },
        { "{worker}", "refs/heads/main", "refs-heads-main" },
        { "{worker}", "@{u}", "u" },
        { "{worker}", "\xc3\xbc", "worker" },
        { "{worker}", "a\xc3\xbc", "a" },
        { "a{b", "w", "a{b" },
        { "a}b", "w", "a}b" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *branch = NULL;

        assert_int_equal(
            al_branch_template_expand(cases[i].text, cases[i].worker, STAMP, &branch, NULL), 0);
        assert_string_equal(branch, cases[i].branch);
    }
}

static void other_placeholders_are_refused(void **state)
{
    static const char *const texts[] = { "{}", "a{user}", "{Timestamp}", "{timestamp }",
                                         "{{worker}}" };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        char *branch = NULL;

        assert_int_equal(al_branch_template_expand(texts[i], "w", STAMP, &branch, &err),
                         AL_ERR_BAD_ARGS);
        assert_non_null(strstr(err.message, "unknown placeholder '{"));
        assert_null(branch);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_targets_and_pulls),
        cmocka_unit_test(nothing_is_fine),
        cmocka_unit_test(refuses_what_is_wrong_by_its_key),
        cmocka_unit_test(the_number_of_pulls_is_limited),
        cmocka_unit_test(templates_expand_to_valid_names),
        cmocka_unit_test(other_placeholders_are_refused),
    };

    return cmocka_run_group_tests_name("staging/settings", tests, NULL, NULL);
}
