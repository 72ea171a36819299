// SPDX-License-Identifier: Apache-2.0
/* cli/config/keys.h: the keys that differ in two readings. */
#include "cli/config/keys.h"
#include "tests/unit/cli/config/lib.h"

#define SERVER "[mcp.servers.a]\ncommand = [\"x\", \"y\"]\n"

static void names_what_differs(void **state)
{
    static const struct {
        const char *before, *after, *names;
    } cases[] = {
        { "", "", "" },
        { "[serve]\ncalls = 128\n", "", "" }, /* the default */
        { "[serve]\ncalls = 127\n", "", "serve.calls" },
        { "[serve]\nidle_s = 5\n", "[serve]\ndrain_s = 5\n", "serve.idle_s,serve.drain_s" },
        { "[serve]\nbehind_proxy = true\n", "", "serve.behind_proxy" },
        { "[serve]\ntls_key = \"a\"\n", "[serve]\ntls_key = \"a\"\n", "" },
        { "[serve]\ntls_key = \"a\"\n", "[serve]\ntls_key = \"b\"\n", "serve.tls_key" },
        { "[serve]\ntls_key = \"a\"\n", "", "serve.tls_key" },
        { "[journal]\nmax_store_bytes = 100000000\n", "", "journal.max_store_bytes" },
        { "[tools.approval]\nmode = \"deny\"\n", "", "tools.approval.mode" },
        { "[serve]\nhosts = [\"a\", \"b\"]\n", "[serve]\nhosts = [\"a\", \"b\"]\n", "" },
        { "[serve]\nhosts = [\"a\"]\n", "[serve]\nhosts = [\"a\", \"b\"]\n", "serve.hosts" },
        { "[serve]\nhosts = [\"a\"]\n", "[serve]\nhosts = [\"b\"]\n", "serve.hosts" },
        { SERVER, SERVER, "" },
        { SERVER, "", "mcp.servers" },
        { SERVER, SERVER "confine = false\n", "mcp.servers" },
        { SERVER, SERVER "tools = []\n", "mcp.servers" },
        { SERVER, "[mcp.servers.b]\ncommand = [\"x\", \"y\"]\n", "mcp.servers" },
        { SERVER, "[mcp.servers.a]\ncommand = [\"x\", \"z\"]\n", "mcp.servers" },
        { "[grants.a]\ntools = [\"x\"]\n", "", "" },
    };

    for (size_t i = 0; i < AL_COUNT(cases); i++) {
        al_auto(al_config_clear) struct al_config before = { .file = NULL };
        al_auto(al_config_clear) struct al_config after = { .file = NULL };
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        print_message("# %zu\n", i);
        al_config_init(&before);
        al_config_init(&after);
        assert_reads(state, cases[i].before, &before);
        assert_reads(state, cases[i].after, &after);
        al_keys_changed(&before, &after, &names);
        al_str_adds(&text, "");
        for (size_t k = 0; k < names.count; k++)
            al_str_addf(&text, "%s%s", k ? "," : "", names.items[k]);
        assert_string_equal(text.buf, cases[i].names);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_what_differs, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
