// SPDX-License-Identifier: Apache-2.0
/* config/serve.h and the keys below `[serve]`. */
#include "tests/unit/cli/config/lib.h"

static void has_the_defaults_of_the_contract(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    (void)state;
    al_config_init(&config);
    assert_int_equal(config.serve.limits.max_body, 4 * 1024 * 1024);
    assert_int_equal(config.serve.limits.max_headers, 32 * 1024);
    assert_int_equal(config.serve.limits.connections, 512);
    assert_int_equal(config.serve.limits.connections_per_token, 64);
    assert_int_equal(config.serve.limits.calls, 128);
    assert_int_equal(config.serve.limits.calls_per_token, 16);
    assert_int_equal(config.serve.limits.sessions_per_token, 64);
    assert_int_equal(config.serve.limits.request_s, 60);
    assert_int_equal(config.serve.limits.stall_s, 60);
    assert_int_equal(config.serve.limits.idle_s, 30 * 60);
    assert_int_equal(config.serve.limits.drain_s, 10);
    assert_int_equal(config.serve.http.count, 0);
    assert_int_equal(config.serve.hosts.count, 0);
    assert_int_equal(config.serve.origins.count, 0);
    assert_null(config.serve.token_file);
    assert_null(config.serve.tls_cert);
    assert_null(config.serve.tls_key);
    assert_false(config.serve.no_token);
    assert_false(config.serve.behind_proxy);
}

static void reads_every_key(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };
    al_auto(al_freep) char *token_file = tmpdir_path(*state, "tokens");

    al_config_init(&config);
    assert_reads(state,
                 "[serve]\n"
                 "http = [\"127.0.0.1:7420\", \"[::1]:0\", \"unix:/run/a.sock\"]\n"
                 "token_file = \"tokens\"\n"
                 "no_token = true\n"
                 "tls_cert = \"/etc/cert.pem\"\n"
                 "tls_key = \"/etc/key.pem\"\n"
                 "behind_proxy = true\n"
                 "hosts = [\"mcp.example\", \"[2001:db8::1]:443\"]\n"
                 "origins = [\"https://app.example\"]\n"
                 "max_body = 2048\n"
                 "drain_s = 0\n",
                 &config);
    assert_int_equal(config.serve.http.count, 3);
    assert_string_equal(config.serve.http.items[2], "unix:/run/a.sock");
    assert_string_equal(config.serve.token_file, token_file);
    assert_true(config.serve.no_token);
    assert_string_equal(config.serve.tls_cert, "/etc/cert.pem");
    assert_string_equal(config.serve.tls_key, "/etc/key.pem");
    assert_true(config.serve.behind_proxy);
    assert_int_equal(config.serve.hosts.count, 2);
    assert_int_equal(config.serve.origins.count, 1);
    assert_int_equal(config.serve.limits.max_body, 2048);
    assert_int_equal(config.serve.limits.drain_s, 0);
    assert_int_equal(config.serve.limits.idle_s, 1800);
}

static void one_place_needs_no_list(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    al_config_init(&config);
    assert_reads(state, "[serve]\nhttp = \"127.0.0.1:7420\"\n", &config);
    assert_int_equal(config.serve.http.count, 1);
    assert_string_equal(config.serve.http.items[0], "127.0.0.1:7420");
    assert_refuses(state, "[serve]\nhosts = \"mcp.example\"\n",
                   "2: serve.hosts: must be a list of strings, not a string");
    assert_refuses(state, "[serve]\nhttp = 7420\n",
                   "2: serve.http: must be a list of strings, not a whole number");
}

static void holds_numbers_to_their_bounds(void **state)
{
    static const struct {
        const char *key;
        int64_t least, most;
    } keys[] = {
        { "max_body", 1024, 67108864 },
        { "max_headers", 1024, 1048576 },
        { "connections", 1, 65536 },
        { "connections_per_token", 1, 65536 },
        { "calls", 1, 4096 },
        { "calls_per_token", 1, 4096 },
        { "sessions_per_token", 1, 4096 },
        { "request_s", 1, 3600 },
        { "stall_s", 1, 3600 },
        { "idle_s", 1, 604800 },
        { "drain_s", 0, 3600 },
    };

    for (size_t i = 0; i < COUNT(keys); i++) {
        const int64_t values[] = { keys[i].least - 1, keys[i].least, keys[i].least + 1,
                                   keys[i].most - 1,  keys[i].most,  keys[i].most + 1 };

        for (size_t k = 0; k < COUNT(values); k++) {
            al_auto(al_freep) char *text =
                al_asprintf("[serve]\n%s = %lld\n", keys[i].key, (long long)values[k]);
            al_auto(al_freep) char *why =
                al_asprintf("2: serve.%s: must be between %lld and %lld", keys[i].key,
                            (long long)keys[i].least, (long long)keys[i].most);
            al_auto(al_config_clear) struct al_config config = { .file = NULL };

            print_message("# %s\n", text);
            al_config_init(&config);
            if (values[k] >= keys[i].least && values[k] <= keys[i].most)
                assert_reads(state, text, &config);
            else
                assert_refuses(state, text, why);
        }
    }
}

static void refuses_what_is_no_place_host_or_origin(void **state)
{
    static const char *const lines[] = {
        "http = []",
        "http = [\"localhost:7420\"]",
        "http = [\"7420\"]",
        "http = [\"127.0.0.1\"]",
        "http = [\"127.0.0.1:65536\"]",
        "http = [\"unix:\"]",
        "http = [\"\"]",
        "hosts = [\"*\"]",
        "hosts = [\"*.example\"]",
        "hosts = [\"https://mcp.example\"]",
        "hosts = [\"mcp.example.\"]",
        "hosts = [\"mcp.example:0\"]",
        "origins = [\"*\"]",
        "origins = [\"null\"]",
        "origins = [\"app.example\"]",
        "origins = [\"https://app.example/\"]",
        "origins = [\"https://*.example\"]",
        "no_token = 1",
        "behind_proxy = \"yes\"",
        "tokens = \"x\"",
        "max_bodies = 1",
    };

    for (size_t i = 0; i < COUNT(lines); i++) {
        al_auto(al_freep) char *text = al_asprintf("[serve]\n%s\n", lines[i]);
        al_auto(al_config_clear) struct al_config config = { .file = NULL };
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        print_message("# %s\n", lines[i]);
        al_config_init(&config);
        assert_int_equal(read_text(*state, text, &config, &err), AL_ERR_BAD_ARGS);
        assert_non_null(strstr(err.message, "config.toml:2: serve."));
    }
}

static void holds_lists_to_their_bounds(void **state)
{
    for (unsigned count = 16u - 1; count <= 16u + 1; count++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_config_clear) struct al_config config = { .file = NULL };

        al_str_adds(&text, "[serve]\nhttp = [");
        for (unsigned i = 0; i < count; i++)
            al_str_addf(&text, "%s\"127.0.0.1:%u\"", i ? ", " : "", 7000 + i);
        al_str_adds(&text, "]\n");
        al_config_init(&config);
        if (count <= 16u)
            assert_reads(state, text.buf, &config);
        else
            assert_refuses(state, text.buf, "2: serve.http: must have between 1 and 16 items");
    }
}

#define SERVE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SERVE_TEST(has_the_defaults_of_the_contract),
        SERVE_TEST(reads_every_key),
        SERVE_TEST(one_place_needs_no_list),
        SERVE_TEST(holds_numbers_to_their_bounds),
        SERVE_TEST(refuses_what_is_no_place_host_or_origin),
        SERVE_TEST(holds_lists_to_their_bounds),
    };

    return cmocka_run_group_tests_name("config/serve", tests, NULL, NULL);
}
