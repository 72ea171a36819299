// SPDX-License-Identifier: Apache-2.0
/* guard/credential_hosts.h: which servers a pattern matches. */
#include "guard/url.h"

#include "tests/lib/assert.h"

static bool matches(const char *pattern, const char *address)
{
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    al_auto(al_strv_clear) struct al_strv patterns = AL_STRV_INIT;

    al_strv_add(&patterns, pattern);
    assert_int_equal(al_url_parse(address, &url, NULL), 0);
    return al_credential_hosts_match(&patterns, &url);
}

static void matches_scheme_host_and_port(void **state)
{
    static const struct {
        const char *pattern, *address;
        bool matches;
    } rows[] = {
        { "github.com", "https://github.com/o/r", true },
        { "github.com", "https://GitHub.com/o/r", true },
        { "GitHub.com", "https://github.com:443/o/r", true },
        { "https://github.com", "https://u@github.com/o/r", true },
        { "github.com", "http://github.com/o/r", false },
        { "github.com", "https://github.com:444/o/r", false },
        { "github.com", "https://github.com.evil.org/o/r", false },
        { "github.com", "https://evilgithub.com/o/r", false },
        { "github.com", "https://evil.org/github.com", false },
        { "github.com", "https://github.com@evil.org/r", false },
        { "github.com:*", "https://github.com:444/o/r", true },
        { "github.com:444", "https://github.com:444/o/r", true },
        { "github.com:444", "https://github.com/o/r", false },
        { "*.corp", "https://git.corp/r", true },
        { "*.corp", "https://a.b.corp/r", true },
        { "*.corp", "https://corp/r", false },
        { "*.corp", "https://git.corp.evil.org/r", false },
        { "*.corp", "https://git.corp:8443/r", false },
        { "git?.corp", "https://git1.corp/r", true },
        { "*", "https://h/r", true },
        { "*", "http://h/r", false },
        { "http://h", "http://h/r", true },
        { "http://h", "http://h:80/r", true },
        { "http://h", "https://h/r", false },
        { "http://h", "http://h:8080/r", false },
        { "http://h:8080", "http://h:8080/r", true },
        { "http://127.0.0.1:*", "http://127.0.0.1:1/r", true },
        { "[::1]:8443", "https://[::1]:8443/r", true },
        { "[::1]", "https://[::1]/r", true },
        { "[::1]", "https://[::2]/r", false },
        { "h", "ssh://h/r", false },
        { "h", "git://h/r", false },
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(rows); i++) {
        print_message("# %s %s\n", rows[i].pattern, rows[i].address);
        assert_int_equal(al_credential_hosts_check(rows[i].pattern, NULL), 0);
        assert_int_equal(matches(rows[i].pattern, rows[i].address), rows[i].matches);
    }
}

static void refuses_what_is_no_pattern(void **state)
{
    static const char *const bad[] = {
        "",        "https://",     ":443",    "h:",    "h:x",        "h:123456", "ssh://h",
        "git://h", "https://h/",   "h/path",  "u@h",   "h h",        "[::1",     "[]",
        "[::1]x",  "http://u:p@h", "[a]:8:8", "h:8:8", "{a,b}.corp", "h\n",      "HTTP://h",
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(bad); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        print_message("# '%s'\n", bad[i]);
        assert_int_equal(al_credential_hosts_check(bad[i], &err), AL_ERR_BAD_ARGS);
        assert_non_null(strstr(err.message, "github.com"));
    }
}

static void matches_nothing_without_patterns(void **state)
{
    const struct al_strv none = AL_STRV_INIT;
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;

    (void)state;
    assert_int_equal(al_url_parse("https://h/r", &url, NULL), 0);
    assert_false(al_credential_hosts_match(&none, &url));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_scheme_host_and_port),
        cmocka_unit_test(refuses_what_is_no_pattern),
        cmocka_unit_test(matches_nothing_without_patterns),
    };

    return cmocka_run_group_tests_name("guard_credential_hosts", tests, NULL, NULL);
}
