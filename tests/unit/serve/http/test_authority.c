// SPDX-License-Identifier: Apache-2.0
/* http/authority.h: hosts and ports, as a Host header has them. */
#include "serve/http/address.h"

#include "base/str.h"
#include "tests/lib/assert.h"

static bool parse(const char *text, struct al_authority *authority)
{
    print_message("# %s\n", text);
    return al_authority_parse(text, strlen(text), authority);
}

static void reads_hosts_with_and_without_a_port(void **state)
{
    static const struct {
        const char *text;
        enum al_host_kind kind;
        int port;
    } facts[] = {
        { "localhost", AL_HOST_NAME, -1 },
        { "localhost:1", AL_HOST_NAME, 1 },
        { "LOCALHOST:65535", AL_HOST_NAME, 65535 },
        { "a-b_c.example.org:80", AL_HOST_NAME, 80 },
        { "127.0.0.1", AL_HOST_IPV4, -1 },
        { "127.0.0.1:7420", AL_HOST_IPV4, 7420 },
        { "[::1]", AL_HOST_IPV6, -1 },
        { "[::1]:7420", AL_HOST_IPV6, 7420 },
        { "[2001:db8:0:0:0:0:0:1]:0", AL_HOST_IPV6, 0 },
        { "127.1", AL_HOST_NAME, -1 },
        { "2130706433", AL_HOST_NAME, -1 },
        { "0x7f.0.0.1", AL_HOST_NAME, -1 },
        { "0177.0.0.1", AL_HOST_NAME, -1 },
    };
    struct al_authority authority;

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        assert_true(parse(facts[i].text, &authority));
        assert_int_equal(authority.kind, facts[i].kind);
        assert_int_equal(authority.port, facts[i].port);
    }
}

static void refuses_everything_else(void **state)
{
    static const char *const texts[] = {
        "",
        ":",
        ":80",
        "localhost:",
        "localhost:65536",
        "localhost:99999",
        "localhost:100000",
        "localhost:080",
        "localhost:+80",
        "localhost:-1",
        "localhost: 80",
        "localhost:80 ",
        " localhost",
        "localhost\t",
        "localhost:80:80",
        "localhost.",
        ".localhost",
        "a..b",
        ".",
        "*",
        "*.example.org",
        "user@localhost",
        "user:password@localhost",
        "localhost/",
        "localhost?x",
        "localhost#x",
        "localhost\\x",
        "local%68ost",
        "local\xc3\xa9",
        "::1",
        "[::1",
        "::1]",
        "[]",
        "[]:80",
        "[::1]80",
        "[::1]:",
        "[::1]x:80",
        "[::1%lo]:80",
        "[127.0.0.1]",
        "[localhost]",
        "[[::1]]",
        "localhost,evil.example",
    };
    struct al_authority authority;

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_false(parse(texts[i], &authority));
    assert_false(al_authority_parse("local\0host", 10, &authority));
    assert_false(al_authority_parse("localhost\0", 10, &authority));
    assert_false(al_authority_parse("[::1\0]", 6, &authority));
}

static void a_name_is_as_long_as_names_are(void **state)
{
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;
    struct al_authority authority;

    (void)state;
    while (name.len < AL_HOST_NAME_MAX_BYTES - 1)
        al_str_addc(&name, 'a');
    assert_true(al_authority_parse(name.buf, name.len, &authority));
    al_str_addc(&name, 'a');
    assert_true(al_authority_parse(name.buf, name.len, &authority));
    al_str_addc(&name, 'a');
    assert_false(al_authority_parse(name.buf, name.len, &authority));
}

static bool same(const char *a, const char *b)
{
    struct al_authority first, second;

    assert_true(parse(a, &first));
    assert_true(parse(b, &second));
    return al_authority_same_host(&first, &second);
}

static void compares_names_without_case_and_addresses_as_numbers(void **state)
{
    (void)state;
    assert_true(same("localhost", "LocalHost:80"));
    assert_true(same("[::1]", "[0:0:0:0:0:0:0:1]:80"));
    assert_true(same("[2001:DB8::a]", "[2001:db8::A]"));
    assert_true(same("127.0.0.1", "127.0.0.1:1"));
    assert_false(same("localhost", "localhost1"));
    assert_false(same("localhost", "localhos"));
    assert_false(same("localhost", "localhost.evil.example"));
    assert_false(same("127.0.0.1", "127.0.0.2"));
    assert_false(same("127.0.0.1", "127.1"));
    assert_false(same("127.0.0.1", "[::ffff:127.0.0.1]"));
    assert_false(same("[::1]", "[::2]"));
    assert_false(same("[::1]", "0.0.0.1"));
}

static void knows_special_hosts(void **state)
{
    static const struct {
        const char *text;
        bool is_loopback, is_wildcard, is_localhost;
    } facts[] = {
        { "127.0.0.1", true, false, false },   { "127.255.0.9:1", true, false, false },
        { "[::1]", true, false, false },       { "128.0.0.1", false, false, false },
        { "126.0.0.1", false, false, false },  { "[::2]", false, false, false },
        { "[::]:1", false, true, false },      { "0.0.0.0", false, true, false },
        { "0.0.0.1", false, false, false },    { "localhost", false, false, true },
        { "LOCALHOST:1", false, false, true }, { "localhost1", false, false, false },
        { "localhos", false, false, false },   { "127.1", false, false, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        struct al_authority authority;

        assert_true(parse(facts[i].text, &authority));
        assert_int_equal(al_authority_is_loopback(&authority), facts[i].is_loopback);
        assert_int_equal(al_authority_is_wildcard(&authority), facts[i].is_wildcard);
        assert_int_equal(al_authority_is_localhost(&authority), facts[i].is_localhost);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_hosts_with_and_without_a_port),
        cmocka_unit_test(refuses_everything_else),
        cmocka_unit_test(a_name_is_as_long_as_names_are),
        cmocka_unit_test(compares_names_without_case_and_addresses_as_numbers),
        cmocka_unit_test(knows_special_hosts),
    };

    return cmocka_run_group_tests_name("http/authority", tests, NULL, NULL);
}
