// SPDX-License-Identifier: Apache-2.0
/* config/staging.h and the keys below `[staging]`. */
#include "tests/unit/cli/config/lib.h"

static void has_defaults(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    (void)state;
    al_config_init(&config);
    assert_int_equal(config.staging.backend, AL_STAGING_MEMORY);
    assert_string_equal(config.staging.path, ".sandbox/workspace");
    assert_null(config.staging.author);
    assert_string_equal(config.staging.github_base_url, "https://github.com");
    assert_int_equal(config.staging.max_bytes, 268435456);
    assert_false(config.staging.allow_symlinks);
}

static void reads_every_key(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    al_config_init(&config);
    assert_reads(state,
                 "[staging]\n"
                 "backend = \"directory\"\n"
                 "path = \"../ws\"\n"
                 "author = \"A. Gent <agent@example.org>\"\n"
                 "max_bytes = 2_000_000\n"
                 "github_base_url = \"https://git.example.org\"\n"
                 "allow_symlinks = true\n",
                 &config);
    assert_int_equal(config.staging.backend, AL_STAGING_DIRECTORY);
    assert_string_equal(config.staging.path, "../ws");
    assert_string_equal(config.staging.author, "A. Gent <agent@example.org>");
    assert_int_equal(config.staging.max_bytes, 2000000);
    assert_string_equal(config.staging.github_base_url, "https://git.example.org");
    assert_true(config.staging.allow_symlinks);
}

static void assert_good(void **state, const char *key, const char *value)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };
    al_auto(al_freep) char *text = al_asprintf("[staging]\n%s = %s\n", key, value);

    al_config_init(&config);
    assert_reads(state, text, &config);
}

static void assert_bad(void **state, const char *key, const char *value, const char *why)
{
    al_auto(al_freep) char *text = al_asprintf("[staging]\n%s = %s\n", key, value);
    al_auto(al_freep) char *what = al_asprintf("2: staging.%s: %s", key, why);

    print_message("# %s = %s\n", key, value);
    assert_refuses(state, text, what);
}

static void bounds_the_size(void **state)
{
    static const char why[] = "must be between 1048576 and 17179869184";

    assert_good(state, "max_bytes", "1048576");
    assert_good(state, "max_bytes", "1048577");
    assert_good(state, "max_bytes", "17179869183");
    assert_good(state, "max_bytes", "17179869184");
    assert_bad(state, "max_bytes", "1048575", why);
    assert_bad(state, "max_bytes", "17179869185", why);
    assert_bad(state, "max_bytes", "0", why);
    assert_bad(state, "max_bytes", "-1", why);
}

static void knows_two_backends(void **state)
{
    assert_good(state, "backend", "\"memory\"");
    assert_bad(state, "backend", "\"disk\"", "must be 'memory' or 'directory'");
    assert_bad(state, "backend", "\"Memory\"", "must be 'memory' or 'directory'");
    assert_bad(state, "backend", "\"\"", "must not be empty");
    assert_bad(state, "path", "\"\"", "must not be empty");
}

static void wants_a_name_and_a_mail(void **state)
{
    static const char *const good[] = {
        "A <a@b>",
        "A. Gent Smith <a.b+c@example.org>",
        "\xc3\x84 <a>",
    };
    static const char *const bad[] = {
        "A",         "a@b",      "<a@b>",       " <a@b>",    "A<a@b>",   "A <>",
        "A <a b>",   "A <a@b",   "A <a@b> ",    "A <a@b> x", "A <<a@b>", "A <a@b>>",
        "A > <a@b>", " A <a@b>", "A\\nB <a@b>", "A <a\\nb>",
    };

    for (size_t i = 0; i < COUNT(good); i++) {
        al_auto(al_freep) char *value = al_asprintf("\"%s\"", good[i]);

        assert_good(state, "author", value);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        al_auto(al_freep) char *value = al_asprintf("\"%s\"", bad[i]);

        assert_bad(state, "author", value, "must be 'Name <mail>'");
    }
}

static void wants_an_address_that_keeps_the_token(void **state)
{
    static const char *const good[] = {
        "https://github.com",    "https://git.example.org:8443/github",
        "http://localhost:3000", "http://127.0.0.1:3000",
        "http://[::1]:3000/",
    };
    static const char *const bad[] = {
        "github.com",
        "http://github.com",
        "http://127.0.0.1.example.org",
        "http://localhost.example.org",
        "http://10.0.0.1",
        "ssh://git@github.com",
        "git@github.com:org",
        "git://github.com",
        "file:///srv",
        "/srv",
        "ext::sh",
        "https://",
    };
    static const char *const parts[] = {
        "https://user@github.com",
        "https://user:secret@github.com",
        "https://github.com?x=y",
        "https://github.com#x",
    };

    for (size_t i = 0; i < COUNT(good); i++) {
        al_auto(al_freep) char *value = al_asprintf("\"%s\"", good[i]);

        assert_good(state, "github_base_url", value);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        al_auto(al_freep) char *value = al_asprintf("\"%s\"", bad[i]);

        assert_bad(state, "github_base_url", value,
                   "must begin with https:// (http:// only for localhost, 127.0.0.1 and [::1])");
    }
    for (size_t i = 0; i < COUNT(parts); i++) {
        al_auto(al_freep) char *value = al_asprintf("\"%s\"", parts[i]);

        assert_bad(state, "github_base_url", value,
                   "must have no user, no password, no query and no fragment");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(has_defaults, setup, teardown),
        cmocka_unit_test_setup_teardown(reads_every_key, setup, teardown),
        cmocka_unit_test_setup_teardown(bounds_the_size, setup, teardown),
        cmocka_unit_test_setup_teardown(knows_two_backends, setup, teardown),
        cmocka_unit_test_setup_teardown(wants_a_name_and_a_mail, setup, teardown),
        cmocka_unit_test_setup_teardown(wants_an_address_that_keeps_the_token, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
