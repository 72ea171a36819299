// SPDX-License-Identifier: Apache-2.0
/* cli/config/config.h: values are taken exactly, and errors name the line. */
#include "tests/unit/cli/config/lib.h"

static void has_the_documented_defaults(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    (void)state;
    al_config_init(&config);
    assert_int_equal(config.toolsets.count, 1);
    assert_string_equal(config.toolsets.items[0], "everyday");
    assert_int_equal(config.roots.count, 0);
    assert_true(config.git.enabled);
    assert_int_equal(config.git.timeout_ms, 30000);
    assert_int_equal(config.git.max_bytes, 200000);
    assert_int_equal(config.git.credential_hosts.count, 0);
    assert_int_equal(config.git.max_fetch_bytes, 4294967296);
    assert_true(config.sandbox.allow_absolute);
    assert_false(config.sandbox.require_confinement);
    assert_int_equal(config.env_allow.count, 0);
    assert_int_equal(config.approval.mode, AL_APPROVAL_ASK);
    assert_null(config.journal.file);
    assert_int_equal(config.journal.max_log_bytes, 64 << 20);
}

static void reads_every_key(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    al_config_init(&config);
    assert_reads(state,
                 "toolsets = [\"git\", \"workflow\"]\n"
                 "roots = [\".\", \"../other\"]\n"
                 "[tools.git]\n"
                 "enabled = false\n"
                 "timeout_ms = 1500\n"
                 "max_bytes = 4_000\n"
                 "[tools.sandbox]\n"
                 "allow_absolute = false\n"
                 "require_confinement = true\n"
                 "[tools.environment]\n"
                 "allow = [\"MY_VAR\", \"LANG\"]\n"
                 "[tools.approval]\n"
                 "mode = \"deny\"\n"
                 "[journal]\n"
                 "file = \"/var/log/tool_log.jsonl\"\n"
                 "max_log_bytes = 1_000_000\n",
                 &config);
    assert_int_equal(config.toolsets.count, 2);
    assert_string_equal(config.toolsets.items[1], "workflow");
    assert_int_equal(config.roots.count, 2);
    assert_string_equal(config.roots.items[0], ".");
    assert_string_equal(config.roots.items[1], "../other");
    assert_false(config.git.enabled);
    assert_int_equal(config.git.timeout_ms, 1500);
    assert_int_equal(config.git.max_bytes, 4000);
    assert_false(config.sandbox.allow_absolute);
    assert_true(config.sandbox.require_confinement);
    assert_int_equal(config.env_allow.count, 2);
    assert_string_equal(config.env_allow.items[0], "MY_VAR");
    assert_int_equal(config.approval.mode, AL_APPROVAL_DENY);
    assert_string_equal(config.journal.file, "/var/log/tool_log.jsonl");
    assert_int_equal(config.journal.max_log_bytes, 1000000);
    assert_true(al_ends_with(config.file, "/config.toml"));
}

static void leaves_alone_what_is_not_named(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    al_config_init(&config);
    assert_reads(state, "roots = [\"one\"]\ntools.git.timeout_ms = 200\n", &config);
    assert_reads(state, "tools.git.max_bytes = 300\n", &config);
    assert_reads(state, "", &config);
    assert_int_equal(config.git.timeout_ms, 200);
    assert_int_equal(config.git.max_bytes, 300);
    assert_int_equal(config.roots.count, 1);
    assert_string_equal(config.toolsets.items[0], "everyday");
}

static void takes_dotted_keys_and_inline_tables(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    al_config_init(&config);
    assert_reads(state,
                 "tools = { git = { timeout_ms = 200 }, sandbox.allow_absolute = false }\n"
                 "journal.file = '/a.jsonl'\n",
                 &config);
    assert_int_equal(config.git.timeout_ms, 200);
    assert_false(config.sandbox.allow_absolute);
    assert_string_equal(config.journal.file, "/a.jsonl");
}

static void names_wrong_types(void **state)
{
    static const char *const cases[][2] = {
        { "toolsets = \"git\"", "toolsets: must be a list of strings, not a string" },
        { "toolsets = [1]", "toolsets: must be a list of strings, not a list of something else" },
        { "toolsets = [\"git\", 1]",
          "toolsets: must be a list of strings, not a list of something else" },
        { "[toolsets]", "toolsets: must be a list of strings, not a table" },
        { "toolsets.x = 1", "toolsets: must be a list of strings, not a table" },
        { "roots = true", "roots: must be a list of strings, not true or false" },
        { "tools.git.enabled = 1", "tools.git.enabled: must be true or false, not a whole number" },
        { "tools.git.enabled = \"true\"",
          "tools.git.enabled: must be true or false, not a string" },
        { "tools.git.timeout_ms = 200.0",
          "tools.git.timeout_ms: must be a whole number, not a number with a fraction" },
        { "tools.git.timeout_ms = \"200\"",
          "tools.git.timeout_ms: must be a whole number, not a string" },
        { "tools.git.max_bytes = 1979-05-27",
          "tools.git.max_bytes: must be a whole number, not a date or time" },
        { "tools.sandbox.allow_absolute = []",
          "tools.sandbox.allow_absolute: must be true or false, not a list of strings" },
        { "tools.sandbox.require_confinement = 0",
          "tools.sandbox.require_confinement: must be true or false, not a whole number" },
        { "tools.environment.allow = {}",
          "tools.environment.allow: must be a list of strings, not a table" },
        { "tools.approval.mode = true",
          "tools.approval.mode: must be a string, not true or false" },
        { "journal.file = 1", "journal.file: must be a string, not a whole number" },
        { "tools = 3", "tools: must be a table, not a whole number" },
        { "[[tools]]", "tools: must be a table, not a list of tables" },
        { "tools.git = \"on\"", "tools.git: must be a table, not a string" },
        { "journal = \"/x\"", "journal: must be a table, not a string" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *text = al_asprintf("# one\n\n%s\n", cases[i][0]);
        al_auto(al_freep) char *what = al_asprintf("3: %s", cases[i][1]);

        print_message("# %s\n", cases[i][1]);
        assert_refuses(state, text, what);
    }
}

static void names_unknown_keys_and_what_was_meant(void **state)
{
    static const char *const cases[][2] = {
        { "rots = []", "1: rots: unknown key, did you mean 'roots'?" },
        { "toolset = []", "1: toolset: unknown key, did you mean 'toolsets'?" },
        { "tool.git.enabled = true", "1: tool: unknown key, did you mean 'tools'?" },
        { "tools.gti.enabled = true", "1: tools.gti: unknown key, did you mean 'tools.git'?" },
        { "[tools.git]\ntimout_ms = 1",
          "2: tools.git.timout_ms: unknown key, did you mean 'tools.git.timeout_ms'?" },
        { "[tools.git]\ntimout = 1", "2: tools.git.timout: unknown key" },
        { "[tools.git]\n[tools.browser]", "2: tools.browser: unknown key" },
        { "[serve]\nreview = \"127.0.0.1:1\"", "2: serve.review: unknown key" },
        { "\"tools.git.enabled\" = true",
          "1: \"tools.git.enabled\": unknown key, did you mean 'tools.git.enabled'?" },
        { "Roots = []", "1: Roots: unknown key, did you mean 'roots'?" },
        { "\"\" = 1", "1: \"\": unknown key" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# %s\n", cases[i][1]);
        assert_refuses(state, cases[i][0], cases[i][1]);
    }
}

static void reports_the_first_error_of_the_file(void **state)
{
    assert_refuses(state,
                   "\n[tools.sandbox]\nallow_absolute = 1\n"
                   "[tools.git]\nenabled = 1\n"
                   "[journal]\nfile = 1\n",
                   "3: tools.sandbox.allow_absolute: must be true or false, not a whole number");
}

static void says_where_the_toml_is_wrong(void **state)
{
    struct tmpdir *dir = *state;
    static const struct {
        const char *text;
        unsigned line;
    } cases[] = {
        { "roots = [\n\"a\"\n\nroots", 4 },
        { "=", 1 },
        { "\n\n[tools.git\n", 3 },
        { "roots = []\nroots = []\n", 2 },
        { "a\x80 = 1", 1 },
        { "roots = []\n[\n", 2 },
        { "[[\n", 1 },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_config_clear) struct al_config config = { .file = NULL };
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_freep) char *begin =
            al_asprintf("%s/config.toml:%u: ", dir->path, cases[i].line);

        al_config_init(&config);
        assert_int_equal(read_text(dir, cases[i].text, &config, &err), AL_ERR_BAD_ARGS);
        print_message("# %s\n", err.message);
        assert_true(al_starts_with(err.message, begin));
        assert_false(al_starts_with(err.message + strlen(begin), "Error"));
        assert_null(strchr(err.message, '\n'));
    }
}

/* A key as deep as a file of this size allows: it must not overflow the stack. */
static void survives_keys_without_end(void **state)
{
    static const char *const forms[][2] = {
        { "\n", " = 1\n" },
        { "\n[", "]\n" },
        { "\nx = { ", " = 1 }\n" },
    };

    for (size_t i = 0; i < COUNT(forms); i++) {
        for (size_t dots = 255; dots <= 257; dots++) {
            al_auto(al_str_clear) struct al_str key = AL_STR_INIT;
            al_auto(al_freep) char *text = NULL;

            al_str_adds(&key, "a");
            for (size_t n = 0; n < dots; n++)
                al_str_adds(&key, ".a");
            text = al_asprintf("%s%s%s", forms[i][0], key.buf, forms[i][1]);
            assert_refuses(state, text,
                           dots > 256 ? "2: too many dots"
                           : i == 2   ? "2: x: unknown key"
                                      : "2: a: unknown key");
        }
    }
}

static void checks_each_environment_name(void **state)
{
    static const char *const bad[] = { "GIT_DIR", "MY_TOKEN", "AWS_REGION", "A B", "A=B" };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct tmpdir *dir = *state;
        al_auto(al_freep) char *text =
            al_asprintf("[tools.environment]\nallow = [\n  \"FINE\",\n  \"%s\",\n]\n", bad[i]);
        al_auto(al_freep) char *begin =
            al_asprintf("%s/config.toml:4: tools.environment.allow: ", dir->path);
        al_auto(al_config_clear) struct al_config config = { .file = NULL };
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        al_config_init(&config);
        assert_int_equal(read_text(dir, text, &config, &err), AL_ERR_BAD_ARGS);
        print_message("# %s\n", err.message);
        assert_true(al_starts_with(err.message, begin));
        assert_int_equal(config.env_allow.count, 0);
    }
}

static void knows_three_approval_modes(void **state)
{
    static const char *const modes[] = { "ask", "allow", "deny" };
    static const enum al_approval_mode values[] = { AL_APPROVAL_ASK, AL_APPROVAL_ALLOW,
                                                    AL_APPROVAL_DENY };
    static const char *const others[] = { "Ask", "yes", "allow ", "none" };

    for (size_t i = 0; i < COUNT(modes); i++) {
        al_auto(al_freep) char *text = al_asprintf("tools.approval.mode = \"%s\"\n", modes[i]);
        al_auto(al_config_clear) struct al_config config = { .file = NULL };

        al_config_init(&config);
        assert_reads(state, text, &config);
        assert_int_equal(config.approval.mode, values[i]);
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        al_auto(al_freep) char *text = al_asprintf("tools.approval.mode = \"%s\"\n", others[i]);

        assert_refuses(state, text, "1: tools.approval.mode: must be 'ask', 'allow' or 'deny'");
    }
}

static void refuses_empty_strings_and_nuls(void **state)
{
    assert_refuses(state, "roots = [\".\",\n\"\"]", "2: roots: must not be empty");
    assert_refuses(state, "toolsets = [\"git\\u0000x\"]", "1: toolsets: must not contain a NUL");
    assert_refuses(state, "tools.approval.mode = \"ask\\u0000\"",
                   "1: tools.approval.mode: must not contain a NUL");
    assert_refuses(state, "journal.file = \"\"", "1: journal.file: must not be empty");
}

static void wants_the_journal_at_a_definite_place(void **state)
{
    assert_refuses(state, "journal.file = \"log.jsonl\"",
                   "1: journal.file: must be an absolute path or begin with '~/'");
    assert_refuses(state, "journal.file = \"~other/log.jsonl\"",
                   "1: journal.file: must be an absolute path or begin with '~/'");
    assert_refuses(state, "journal.file = \"/var/log/\"",
                   "1: journal.file: must name a file, not a directory");
    assert_refuses(state, "journal.file = \"~/log.jsonl\"",
                   "1: journal.file: begins with '~/', but HOME is not set");
}

static void tells_a_missing_file_from_one_it_cannot_read(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_config_clear) struct al_config config = { .file = NULL };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *missing = tmpdir_path(dir, "missing.toml");
    al_auto(al_freep) char *link = tmpdir_path(dir, "link.toml");
    al_auto(al_freep) char *loop = tmpdir_path(dir, "loop.toml");

    al_config_init(&config);
    assert_int_equal(al_config_load(&config, missing, NULL, NULL, &err), AL_ERR_BAD_ARGS);
    assert_int_equal(al_config_load(&config, dir->path, NULL, NULL, &err), AL_ERR_BAD_ARGS);
    assert_true(al_ends_with(err.message, ": cannot read: not a regular file"));
    tmpdir_symlink(dir, "loop.toml", "loop.toml");
    assert_int_equal(al_config_load(&config, loop, NULL, NULL, &err), AL_ERR_BAD_ARGS);
    assert_non_null(strstr(err.message, ": cannot read: "));
    tmpdir_write(dir, "real.toml", "tools.git.max_bytes = 9\n");
    tmpdir_symlink(dir, "real.toml", "link.toml");
    assert_int_equal(al_config_load(&config, link, NULL, NULL, &err), 0);
    assert_int_equal(config.git.max_bytes, 9);
}

static void reads_files_up_to_1_mib(void **state)
{
    struct tmpdir *dir = *state;
    const size_t limit = 1u << 20;
    al_auto(al_freep) char *path = tmpdir_path(dir, "big.toml");
    al_auto(al_freep) char *text = al_malloc(limit + 1);

    memset(text, '\n', limit + 1);
    for (size_t len = limit - 1; len <= limit + 1; len++) {
        al_auto(al_config_clear) struct al_config config = { .file = NULL };
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        al_config_init(&config);
        tmpdir_write_bytes(dir, "big.toml", text, len);
        assert_int_equal(al_config_load(&config, path, NULL, NULL, &err),
                         len > limit ? AL_ERR_BAD_ARGS : 0);
        if (len > limit)
            assert_true(al_ends_with(err.message, ": cannot read: larger than 1048576 bytes"));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_documented_defaults),
        cmocka_unit_test(reads_every_key),
        cmocka_unit_test(leaves_alone_what_is_not_named),
        cmocka_unit_test(takes_dotted_keys_and_inline_tables),
        cmocka_unit_test(names_wrong_types),
        cmocka_unit_test(names_unknown_keys_and_what_was_meant),
        cmocka_unit_test(reports_the_first_error_of_the_file),
        cmocka_unit_test(says_where_the_toml_is_wrong),
        cmocka_unit_test(survives_keys_without_end),
        cmocka_unit_test(checks_each_environment_name),
        cmocka_unit_test(knows_three_approval_modes),
        cmocka_unit_test(refuses_empty_strings_and_nuls),
        cmocka_unit_test(wants_the_journal_at_a_definite_place),
        cmocka_unit_test(tells_a_missing_file_from_one_it_cannot_read),
        cmocka_unit_test(reads_files_up_to_1_mib),
    };

    return cmocka_run_group_tests_name("config/config", tests, setup, teardown);
}
