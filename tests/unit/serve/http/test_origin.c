// SPDX-License-Identifier: Apache-2.0
/* serve/http/address.h: which Host and Origin headers a server accepts, for each kind of place. */
#include "serve/http/address.h"

#include "tests/lib/assert.h"

static const struct al_http_place loopback = { .address = "127.0.0.1", .port = 7420 };
static const struct al_http_place loopback6 = { .address = "::1", .port = 7420 };
static const struct al_http_place standard = { .address = "127.0.0.1", .port = 80 };
static const struct al_http_place tls = { .address = "192.0.2.7", .port = 443, .tls = true };
static const struct al_http_place any_tls = { .address = "0.0.0.0", .port = 7420, .tls = true };
static const struct al_http_place proxied = { .address = "0.0.0.0",
                                              .port = 7420,
                                              .behind_proxy = true };
static const struct al_http_place proxied_address = { .address = "192.0.2.7",
                                                      .port = 7420,
                                                      .behind_proxy = true };
static const struct al_http_place unix_socket = { .address = NULL };

static char *configured_hosts[] = { (char *)"mcp.example", (char *)"box.example:7420",
                                    (char *)"[2001:db8::1]:443", (char *)"tls.example:443" };
static const struct al_strv hosts = { .items = configured_hosts, .count = 4 };
static char *configured_origins[] = { (char *)"https://app.example",
                                      (char *)"http://dev.example:3000",
                                      (char *)"vscode-webview://id" };
static const struct al_strv origins = { .items = configured_origins, .count = 3 };
static const struct al_strv none = { .items = NULL };

/* A header, and whether it is accepted there. */
struct fact {
    const struct al_http_place *place;
    const char *header;
    bool accepted;
};

static void accepts_the_address_localhost_and_nothing_else(void **state)
{
    static const struct fact facts[] = {
        { &loopback, "127.0.0.1:7420", true },
        { &loopback, "localhost:7420", true },
        { &loopback, "LocalHost:7420", true },
        { &loopback6, "[::1]:7420", true },
        { &loopback6, "[0:0:0:0:0:0:0:1]:7420", true },
        { &loopback6, "localhost:7420", true },
        { &standard, "127.0.0.1", true },
        { &standard, "127.0.0.1:80", true },
        { &standard, "localhost", true },
        { &loopback, NULL, false },
        { &loopback, "", false },
        { &loopback, "127.0.0.1", false },
        { &loopback, "localhost", false },
        { &loopback, "127.0.0.1:80", false },
        { &loopback, "127.0.0.1:7421", false },
        { &loopback, "127.0.0.1:742", false },
        { &loopback, "127.0.0.1:74200", false },
        { &loopback, "localhost:7421", false },
        { &loopback, "localhost:07420", false },
        { &loopback, "localhost.:7420", false },
        { &loopback, "localhost.evil.example:7420", false },
        { &loopback, "evil.localhost:7420", false },
        { &loopback, "evil.example", false },
        { &loopback, "evil.example:7420", false },
        { &loopback, "user@127.0.0.1:7420", false },
        { &loopback, "127.0.0.1:7420@evil.example", false },
        { &loopback, "127.0.0.1:7420, evil.example", false },
        { &loopback, "127.0.0.1:7420 ", false },
        { &loopback, "http://127.0.0.1:7420", false },
        { &loopback, "127.0.0.2:7420", false },
        { &loopback, "127.1:7420", false },
        { &loopback, "0.0.0.0:7420", false },
        { &loopback, "[::1]:7420", false },
        { &loopback, "[::ffff:127.0.0.1]:7420", false },
        { &loopback6, "127.0.0.1:7420", false },
        { &loopback6, "::1:7420", false },
        { &loopback6, "[::1]", false },
        { &loopback6, "[::2]:7420", false },
        { &loopback6, "[::1%25lo]:7420", false },
        { &loopback, "mcp.example:7420", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        print_message("# %s\n", facts[i].header ? facts[i].header : "(none)");
        assert_int_equal(al_http_accepts_host(facts[i].place, &none, facts[i].header),
                         facts[i].accepted);
    }
}

static void beyond_loopback_loopback_is_accepted_and_the_address_without_a_proxy(void **state)
{
    static const struct fact facts[] = {
        { &tls, "192.0.2.7", true },
        { &tls, "192.0.2.7:443", true },
        { &tls, "localhost", true },
        { &tls, "127.0.0.1", true },
        { &tls, "192.0.2.7:80", false },
        { &tls, "192.0.2.8", false },
        { &any_tls, "localhost:7420", true },
        { &any_tls, "127.0.0.9:7420", true },
        { &any_tls, "[::1]:7420", true },
        { &any_tls, "0.0.0.0:7420", false },
        { &any_tls, "[::]:7420", false },
        { &any_tls, "192.0.2.7:7420", false },
        { &any_tls, "localhost", false },
        { &proxied, "localhost:7420", true },
        { &proxied, "127.0.0.1:7420", true },
        { &proxied, "[::1]:7420", true },
        { &proxied, "0.0.0.0:7420", false },
        { &proxied, "evil.example:7420", false },
        { &proxied, "localhost:80", false },
        { &proxied_address, "127.0.0.1:7420", true },
        { &proxied_address, "192.0.2.7:7420", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        print_message("# %s\n", facts[i].header);
        assert_int_equal(al_http_accepts_host(facts[i].place, &none, facts[i].header),
                         facts[i].accepted);
    }
}

static void accepts_configured_hosts_with_their_ports(void **state)
{
    static const struct fact facts[] = {
        { &loopback, "mcp.example", true },
        { &loopback, "MCP.Example:1", true },
        { &loopback, "mcp.example:65535", true },
        { &loopback, "box.example:7420", true },
        { &loopback, "[2001:db8:0::1]:443", true },
        { &tls, "tls.example", true },
        { &proxied, "tls.example", true },
        { &proxied, "mcp.example", true },
        { &loopback, "box.example", false },
        { &loopback, "box.example:7421", false },
        { &loopback, "tls.example", false },
        { &tls, "box.example", false },
        { &loopback, "[2001:db8::1]", false },
        { &loopback, "[2001:db8::2]:443", false },
        { &loopback, "mcp.example.", false },
        { &loopback, "a.mcp.example", false },
        { &loopback, "mcp.example.evil.example", false },
        { &loopback, "xmcp.example", false },
        { &loopback, "*", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        print_message("# %s\n", facts[i].header);
        assert_int_equal(al_http_accepts_host(facts[i].place, &hosts, facts[i].header),
                         facts[i].accepted);
    }
}

static void a_unix_socket_has_no_port_to_compare(void **state)
{
    static const struct fact facts[] = {
        { &unix_socket, "localhost", true },
        { &unix_socket, "localhost:80", true },
        { &unix_socket, "127.0.0.1", true },
        { &unix_socket, "[::1]:1", true },
        { &unix_socket, "evil.example", false },
        { &unix_socket, "", false },
        { &unix_socket, NULL, false },
        { &unix_socket, "192.0.2.1", false },
        { &unix_socket, "localhost.evil", false },
        { &unix_socket, "mcp.example:9", true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++)
        assert_int_equal(al_http_accepts_host(facts[i].place, &hosts, facts[i].header),
                         facts[i].accepted);
}

static void accepts_its_own_origins_and_configured_ones(void **state)
{
    static const struct fact facts[] = {
        { &loopback, NULL, true },
        { &loopback, "http://127.0.0.1:7420", true },
        { &loopback, "http://localhost:7420", true },
        { &loopback, "HTTP://LOCALHOST:7420", true },
        { &loopback6, "http://[::1]:7420", true },
        { &standard, "http://localhost", true },
        { &standard, "http://localhost:80", true },
        { &tls, "https://192.0.2.7", true },
        { &loopback, "https://app.example", true },
        { &loopback, "https://app.example:443", true },
        { &loopback, "http://dev.example:3000", true },
        { &loopback, "vscode-webview://id", true },
        { &proxied, "https://app.example", true },
        { &unix_socket, "https://app.example", true },
        { &loopback, "null", false },
        { &loopback, "", false },
        { &loopback, "NULL", false },
        { &loopback, "*", false },
        { &loopback, "https://127.0.0.1:7420", false },
        { &loopback, "http://127.0.0.1", false },
        { &loopback, "http://127.0.0.1:7421", false },
        { &loopback, "http://127.0.0.2:7420", false },
        { &loopback, "http://[::1]:7420", false },
        { &loopback, "http://localhost:7420/", false },
        { &loopback, "http://localhost:7420 http://evil.example", false },
        { &loopback, "http://localhost.:7420", false },
        { &loopback, "http://evil.example", false },
        { &loopback, "http://evil.example:7420", false },
        { &loopback, "http://user@localhost:7420", false },
        { &loopback, "localhost:7420", false },
        { &loopback, "//localhost:7420", false },
        { &loopback, "://localhost:7420", false },
        { &loopback, "ftp://localhost:7420", false },
        { &loopback, "file://", false },
        { &tls, "http://192.0.2.7:443", false },
        { &any_tls, "https://0.0.0.0:7420", false },
        { &proxied, "http://0.0.0.0:7420", false },
        { &loopback, "http://app.example", false },
        { &loopback, "https://app.example:444", false },
        { &loopback, "https://a.app.example", false },
        { &loopback, "https://app.example.evil.example", false },
        { &loopback, "https://app.example/", false },
        { &loopback, "http://dev.example", false },
        { &loopback, "http://dev.example:3001", false },
        { &loopback, "vscode-webview://other", false },
        { &unix_socket, "http://localhost", false },
        { &unix_socket, "null", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        print_message("# %s\n", facts[i].header ? facts[i].header : "(none)");
        assert_int_equal(al_http_accepts_origin(facts[i].place, &origins, facts[i].header),
                         facts[i].accepted);
    }
}

static void only_configured_origins_are_told_to_browsers(void **state)
{
    (void)state;
    assert_true(al_http_is_configured_origin(&origins, "https://APP.example"));
    assert_false(al_http_is_configured_origin(&origins, "http://localhost:7420"));
    assert_false(al_http_is_configured_origin(&origins, "null"));
    assert_false(al_http_is_configured_origin(&origins, NULL));
    assert_false(al_http_is_configured_origin(&none, "https://app.example"));
}

static void knows_loopback_addresses(void **state)
{
    (void)state;
    assert_true(al_http_is_loopback("127.0.0.1"));
    assert_true(al_http_is_loopback("127.255.255.255"));
    assert_true(al_http_is_loopback("::1"));
    assert_false(al_http_is_loopback("0.0.0.0"));
    assert_false(al_http_is_loopback("::"));
    assert_false(al_http_is_loopback("10.0.0.1"));
    assert_false(al_http_is_loopback("::ffff:127.0.0.1"));
    assert_false(al_http_is_loopback("localhost"));
    assert_false(al_http_is_loopback(""));
}

static void checks_what_is_configured(void **state)
{
    static const struct {
        const char *text;
        bool is_host, is_origin;
    } facts[] = {
        { "mcp.example", true, false },
        { "mcp.example:7420", true, false },
        { "[::1]:7420", true, false },
        { "https://mcp.example", false, true },
        { "https://mcp.example:8443", false, true },
        { "http://[::1]:7420", false, true },
        { "chrome-extension://abc", false, true },
        { "*", false, false },
        { "*.example", false, false },
        { "https://*.example", false, false },
        { "null", true, false }, /* a name like any other; no Origin of this text is accepted */
        { "mcp.example:0", false, false },
        { "mcp.example/", false, false },
        { "https://mcp.example/", false, false },
        { "https://mcp.example/path", false, false },
        { "https://user@mcp.example", false, false },
        { "https://", false, false },
        { "1https://mcp.example", false, false },
        { "", false, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        print_message("# %s\n", facts[i].text);
        assert_int_equal(al_http_check_host(facts[i].text, &err) == 0, facts[i].is_host);
        assert_int_equal(al_http_check_origin(facts[i].text, &err) == 0, facts[i].is_origin);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_the_address_localhost_and_nothing_else),
        cmocka_unit_test(beyond_loopback_loopback_is_accepted_and_the_address_without_a_proxy),
        cmocka_unit_test(accepts_configured_hosts_with_their_ports),
        cmocka_unit_test(a_unix_socket_has_no_port_to_compare),
        cmocka_unit_test(accepts_its_own_origins_and_configured_ones),
        cmocka_unit_test(only_configured_origins_are_told_to_browsers),
        cmocka_unit_test(knows_loopback_addresses),
        cmocka_unit_test(checks_what_is_configured),
    };

    return cmocka_run_group_tests_name("http/origin", tests, NULL, NULL);
}
