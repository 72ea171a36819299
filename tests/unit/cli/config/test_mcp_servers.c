// SPDX-License-Identifier: Apache-2.0
/* cli/config/config.h, [mcp.servers.NAME] and prefer_mcp: names that the user chooses, and keys
 * that are checked like all others. */
#include "tests/unit/cli/config/lib.h"

#define NAMED                                                                                      \
    "must be named with 1 to 32 letters, digits, '-' and '_', without '__' and without '_' at "    \
    "the "                                                                                         \
    "end"
static void takes_servers_by_their_names(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };
    const struct al_mcp_server *server;

    al_config_init(&config);
    assert_false(config.git.prefer_mcp);
    assert_reads(state,
                 "tools.git.prefer_mcp = true\n"
                 "[mcp.servers.second-one_2]\n"
                 "command = [\"second\", \"--flag\"]\n"
                 "tools = [\"a\", \"b.c\"]\n"
                 "confine = false\n"
                 "timeout_ms = 1500\n"
                 "[mcp.servers.second-one_2.env]\n"
                 "API_TOKEN = \"x=y\"\n"
                 "_empty1 = \"\"\n"
                 "[mcp.servers.second-one_2.allow]\n"
                 "read = [\"/usr/share/x\"]\n"
                 "write = [\"/var/x\", \"/var/y\"]\n"
                 "exec = []\n"
                 "network = true\n"
                 "[mcp.servers.first]\n"
                 "command = [\"first\"]\n",
                 &config);
    assert_true(config.git.prefer_mcp);
    assert_int_equal(config.mcp.servers.count, 2);
    assert_string_equal(config.mcp.servers.items[0].name, "first");
    server = &config.mcp.servers.items[1];
    assert_string_equal(server->name, "second-one_2");
    assert_int_equal(server->command.count, 2);
    assert_string_equal(server->command.items[1], "--flag");
    assert_true(server->limits_tools);
    assert_int_equal(server->tools.count, 2);
    assert_false(server->confine);
    assert_int_equal(server->timeout_ms, 1500);
    assert_int_equal(server->env.count, 2);
    assert_string_equal(server->env.items[0], "API_TOKEN=x=y");
    assert_string_equal(server->env.items[1], "_empty1=");
    assert_int_equal(server->allow.read.count, 1);
    assert_int_equal(server->allow.write.count, 2);
    assert_int_equal(server->allow.exec.count, 0);
    assert_true(server->allow.network);
    assert_int_equal(server->line, 2);
    server = &config.mcp.servers.items[0];
    assert_true(server->confine);
    assert_false(server->limits_tools || server->allow.network);
    assert_int_equal(server->timeout_ms, 30000);
}

static void a_later_file_takes_the_place_of_servers(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    al_config_init(&config);
    assert_reads(state, "[mcp.servers.a]\ncommand = [\"a\"]\nenv = { X = \"1\" }\n", &config);
    assert_reads(state, "roots = [\"x\"]\n", &config);
    assert_int_equal(config.mcp.servers.count, 1);
    assert_string_equal(config.mcp.servers.items[0].env.items[0], "X=1");
    assert_reads(state, "[mcp.servers.b]\ncommand = [\"b\"]\n", &config);
    assert_int_equal(config.mcp.servers.count, 1);
    assert_string_equal(config.mcp.servers.items[0].name, "b");
}

static void names_what_is_wrong_with_a_server(void **state)
{
    static const char *const cases[][2] = {
        { "mcp = 1", "1: mcp: must be a table, not a whole number" },
        { "mcp.servers = 1", "1: mcp.servers: must be a table, not a whole number" },
        { "[mcp.server.a]", "1: mcp.server: unknown key, did you mean 'mcp.servers'?" },
        { "[[mcp.servers.a]]", "1: mcp.servers.a: must be a table, not a list of tables" },
        { "[mcp.servers.a__b]", "1: mcp.servers.a__b: " NAMED },
        { "[mcp.servers.a_]", "1: mcp.servers.a_: " NAMED },
        { "[mcp.servers.\"a.b\"]", "1: mcp.servers.\"a.b\": " NAMED },
        { "[mcp.servers.\"\"]", "1: mcp.servers.\"\": " NAMED },
        { "[mcp.servers.a]", "1: mcp.servers.a: has no 'command'" },
        { "[mcp.servers.a]\ncommand = \"x\"",
          "2: mcp.servers.a.command: must be a list of strings, not a string" },
        { "[mcp.servers.a]\ncommand = []",
          "2: mcp.servers.a.command: must have between 1 and 256 items" },
        { "[mcp.servers.a]\ncommand = [\"x\", \"\"]",
          "2: mcp.servers.a.command: must not be empty" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nurl = \"y\"", "3: mcp.servers.a.url: unknown key" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nconfine = \"no\"",
          "3: mcp.servers.a.confine: must be true or false, not a string" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\ntools = \"t\"",
          "3: mcp.servers.a.tools: must be a list of strings, not a string" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nenv = [\"A=b\"]",
          "3: mcp.servers.a.env: must be a table, not a list of strings" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nenv.\"A=B\" = \"c\"",
          "3: mcp.servers.a.env.\"A=B\": must be the name of a variable: letters, digits and '_'" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nenv.1A = \"c\"",
          "3: mcp.servers.a.env.1A: must be the name of a variable: letters, digits and '_'" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nenv.A = 1",
          "3: mcp.servers.a.env.A: must be a string, not a whole number" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nenv.A = \"b\\u0000c\"",
          "3: mcp.servers.a.env.A: must not contain a NUL" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nallow = true",
          "3: mcp.servers.a.allow: must be a table, not true or false" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nallow.net = true",
          "3: mcp.servers.a.allow.net: unknown key" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nallow.network = \"all\"",
          "3: mcp.servers.a.allow.network: must be true or false, not a string" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nallow.read = [\"/x\",\n\"y\"]",
          "4: mcp.servers.a.allow.read: must be absolute paths, or begin with '~/'" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nallow.read = [\"~/x\"]",
          "3: mcp.servers.a.allow.read: begins with '~/', but HOME is not set" },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nallow.exec = [\"/x\", \"\"]",
          "3: mcp.servers.a.allow.exec: must not be empty" },
        { "tools.git.prefer_mcp = 1",
          "1: tools.git.prefer_mcp: must be true or false, not a whole number" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# %s\n", cases[i][1]);
        assert_refuses(state, cases[i][0], cases[i][1]);
    }
}

static void holds_servers_to_their_bounds(void **state)
{
    static const struct {
        const char *head, *before, *after, *end;
        size_t max;
    } cases[] = {
        { "", "[mcp.servers.s", "]\ncommand = [\"x\"]\n", "", 32 },
        { "[mcp.servers.a]\ncommand = [", "\"c", "\", ", "]\n", 256 },
        { "[mcp.servers.a]\ncommand = [\"x\"]\ntools = [", "\"t", "\", ", "]\n", 512 },
        { "[mcp.servers.a]\ncommand = [\"x\"]\n[mcp.servers.a.env]\n", "V", " = \"x\"\n", "", 64 },
        { "[mcp.servers.a]\ncommand = [\"x\"]\nallow.write = [", "\"/p", "\", ", "]\n", 64 },
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t n = cases[i].max - 1; n <= cases[i].max + 1; n++) {
            al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
            al_auto(al_config_clear) struct al_config config = { .file = NULL };
            al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

            print_message("# %zu: %zu\n", i, n);
            al_str_adds(&text, cases[i].head);
            for (size_t k = 0; k < n; k++)
                al_str_addf(&text, "%s%zu%s", cases[i].before, k, cases[i].after);
            al_str_adds(&text, cases[i].end);
            al_config_init(&config);
            assert_int_equal(read_text(*state, text.buf, &config, &err),
                             n <= cases[i].max ? 0 : AL_ERR_BAD_ARGS);
        }
}

static void holds_a_name_and_a_time_to_their_bounds(void **state)
{
    static const struct {
        const char *value;
        bool fits;
    } times[] = { { "99", false },    { "100", true },    { "101", true },
                  { "599999", true }, { "600000", true }, { "600001", false } };

    for (size_t len = 31; len <= 33; len++) {
        al_auto(al_freep) char *text =
            al_asprintf("[mcp.servers.%0*d]\ncommand = [\"x\"]\n", (int)len, 1);
        al_auto(al_config_clear) struct al_config config = { .file = NULL };

        al_config_init(&config);
        assert_int_equal(read_text(*state, text, &config, NULL), len <= 32 ? 0 : AL_ERR_BAD_ARGS);
    }
    for (size_t i = 0; i < COUNT(times); i++) {
        al_auto(al_freep) char *text =
            al_asprintf("[mcp.servers.a]\ncommand = [\"x\"]\ntimeout_ms = %s\n", times[i].value);
        al_auto(al_config_clear) struct al_config config = { .file = NULL };

        al_config_init(&config);
        if (times[i].fits)
            assert_reads(state, text, &config);
        else
            assert_refuses(state, text,
                           "3: mcp.servers.a.timeout_ms: must be between 100 and 600000");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_servers_by_their_names),
        cmocka_unit_test(a_later_file_takes_the_place_of_servers),
        cmocka_unit_test(names_what_is_wrong_with_a_server),
        cmocka_unit_test(holds_servers_to_their_bounds),
        cmocka_unit_test(holds_a_name_and_a_time_to_their_bounds),
    };

    return cmocka_run_group_tests_name("config/mcp_servers", tests, setup, teardown);
}
