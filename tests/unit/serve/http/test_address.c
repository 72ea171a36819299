// SPDX-License-Identifier: Apache-2.0
/* serve/http/address.h: what a user may write as an address, and what of it is loopback. */
#include "serve/http/address.h"

#include "tests/lib/assert.h"

static void check_good(const char *text, sa_family_t family, uint16_t port, bool loopback)
{
    struct al_http_address address;
    struct al_error err = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str printed = AL_STR_INIT;

    assert_int_equal(al_http_address_parse(text, &address, &err), 0);
    assert_int_equal(address.family, family);
    assert_int_equal(address.port, port);
    assert_int_equal(address.loopback, loopback);
    al_http_address_print(&address, &printed);
    assert_string_equal(printed.buf, text);
}

static void check_bad(const char *text)
{
    struct al_http_address address;
    struct al_error err = AL_ERROR_INIT;

    assert_int_equal(al_http_address_parse(text, &address, &err), AL_ERR_BAD_ARGS);
    assert_non_null(err.message);
    al_error_clear(&err);
}

static void test_good(void **state)
{
    (void)state;
    check_good("127.0.0.1:8080", AF_INET, 8080, true);
    check_good("127.255.255.254:0", AF_INET, 0, true);
    check_good("0.0.0.0:1", AF_INET, 1, false);
    check_good("128.0.0.1:80", AF_INET, 80, false);
    check_good("126.255.255.255:80", AF_INET, 80, false);
    check_good("192.0.2.1:65535", AF_INET, 65535, false);
    check_good("[::1]:8080", AF_INET6, 8080, true);
    check_good("[::]:8080", AF_INET6, 8080, false);
    check_good("[2001:db8::1]:443", AF_INET6, 443, false);
    check_good("unix:/run/a.sock", AF_UNIX, 0, true);
    check_good("unix:relative:8080", AF_UNIX, 0, true);
}

static void test_bad(void **state)
{
    static const char *const bad[] = {
        "",
        "127.0.0.1",
        "8080",
        ":8080",
        "localhost:8080",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:99999",
        "127.0.0.1:000080",
        "127.0.0.1:+80",
        "127.0.0.1: 80",
        "127.0.0.1:80 ",
        "127.0.0.1:http",
        "127.1:80",
        "0x7f.0.0.1:80",
        "127.0.0.256:80",
        "[127.0.0.1]:80",
        "::1:80",
        "[::1]",
        "[::1]80",
        "[::1:80",
        "[]:80",
        "[",
        "]:80",
        "[::1%lo]:80",
        "[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa]:80",
        "unix:",
        "http://127.0.0.1:80",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        check_bad(bad[i]);
}

static void test_path_length(void **state)
{
    (void)state;
    for (size_t len = AL_HTTP_SOCKET_PATH_MAX - 1; len <= AL_HTTP_SOCKET_PATH_MAX + 1; len++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        al_str_adds(&text, "unix:/");
        while (text.len < len + strlen("unix:"))
            al_str_addc(&text, 'a');
        if (len <= AL_HTTP_SOCKET_PATH_MAX)
            check_good(text.buf, AF_UNIX, 0, true);
        else
            check_bad(text.buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_path_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
