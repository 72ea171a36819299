// SPDX-License-Identifier: Apache-2.0
/* guard/url.h: addresses are parsed like git does, and refused where git would do more. */
#include "guard/url.h"

#include "base/str.h"
#include "tests/lib/assert.h"

static void assert_same(const char *got, const char *expected)
{
    if (expected)
        assert_string_equal(got, expected);
    else
        assert_null(got);
}

static void takes_addresses_apart(void **state)
{
    static const struct {
        const char *text, *protocol, *host;
        int port;
        const char *path, *user, *password, *bare, *shown;
        enum al_url_kind kind;
    } rows[] = {
        { "/srv/a.git", "file", "", 0, "/srv/a.git", NULL, NULL, NULL, NULL, AL_URL_PATH },
        { "../a b.git", "file", "", 0, "../a b.git", NULL, NULL, NULL, NULL, AL_URL_PATH },
        { "./-x", "file", "", 0, "./-x", NULL, NULL, NULL, NULL, AL_URL_PATH },
        { "./a:b", "file", "", 0, "./a:b", NULL, NULL, NULL, NULL, AL_URL_PATH },
        { "file:///srv/a%20b", "file", "", 0, "/srv/a b", NULL, NULL, NULL, NULL, AL_URL_PATH },
        { "git://h/p", "git", "h", 0, "/p", NULL, NULL, NULL, NULL, AL_URL_GIT },
        { "git://h:1/p", "git", "h", 1, "/p", NULL, NULL, NULL, NULL, AL_URL_GIT },
        { "ssh://u@h:65535/~/p", "ssh", "h", 65535, "/~/p", "u", NULL, NULL, NULL, AL_URL_SSH },
        { "git+ssh://h/p", "ssh", "h", 0, "/p", NULL, NULL, NULL, NULL, AL_URL_SSH },
        { "ssh://[::1]:22/p", "ssh", "::1", 22, "/p", NULL, NULL, NULL, NULL, AL_URL_SSH },
        { "ssh://[fe80::1]/p", "ssh", "fe80::1", 0, "/p", NULL, NULL, NULL, NULL, AL_URL_SSH },
        { "git@h.example:o/r.git", "ssh", "h.example", 0, "o/r.git", "git", NULL, NULL, NULL,
          AL_URL_SSH },
        { "h_1:p", "ssh", "h_1", 0, "p", NULL, NULL, NULL, NULL, AL_URL_SSH },
        { "https://h/o/r.git", "https", "h", 0, "/o/r.git", NULL, NULL, NULL, NULL, AL_URL_HTTP },
        { "http://u@h:8080/p", "http", "h", 8080, "/p", "u", NULL, "http://u@h:8080/p",
          "http://[redacted]@h:8080/p", AL_URL_HTTP },
        { "https://u:p%40w@h/p", "https", "h", 0, "/p", "u", "p@w", "https://u@h/p",
          "https://[redacted]@h/p", AL_URL_HTTP },
        { "https://:p@h/p", "https", "h", 0, "/p", "", "p", "https://@h/p",
          "https://[redacted]@h/p", AL_URL_HTTP },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_url_clear) struct al_url url = AL_URL_INIT;

        print_message("  %s\n", rows[i].text);
        assert_int_equal(al_url_parse(rows[i].text, &url, NULL), 0);
        assert_int_equal(url.kind, rows[i].kind);
        assert_string_equal(url.protocol, rows[i].protocol);
        assert_string_equal(url.host, rows[i].host);
        assert_int_equal(url.port, rows[i].port);
        assert_string_equal(url.path, rows[i].path);
        assert_same(url.user, rows[i].user);
        assert_same(url.password, rows[i].password);
        assert_string_equal(url.bare, rows[i].bare ? rows[i].bare : rows[i].text);
        assert_string_equal(url.shown, rows[i].shown ? rows[i].shown : rows[i].text);
    }
}

static void knows_what_a_credential_is_for(void **state)
{
    static const struct {
        const char *text, *origin;
    } rows[] = {
        { "https://h/p", "https://h" },
        { "https://u:p@h:8443/p", "https://h:8443" },
        { "http://[::1]:80/p", "http://[::1]:80" },
        { "ssh://h/p", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_url_clear) struct al_url url = AL_URL_INIT;

        assert_int_equal(al_url_parse(rows[i].text, &url, NULL), 0);
        assert_same(url.origin, rows[i].origin);
    }
}

static const char *const refused[] = {
    "",
    "ext::sh -c id",
    "fd::3",
    "foo::https://h/p",
    "transport::x",
    "http::http://h/p",
    "ftp://h/p",
    "rsync://h/p",
    "HTTPS://h/p",
    "bundle://h",
    "ssh://-oProxyCommand=id/p",
    "ssh://u@-h/p",
    "ssh://-u@h/p",
    "-oProxyCommand=id:p",
    "-h:p",
    "h:-p",
    "ssh://h/-p",
    "git://-h/p",
    "--upload-pack=id",
    "-x",
    "ssh://d%2fx/p",
    "https://h%2ex/p",
    "https:///p",
    "https://h",
    "ssh://h",
    "h:",
    "https://h:0/p",
    "https://h:65536/p",
    "https://h:/p",
    "https://h:1x/p",
    "https://h:99999999999/p",
    "https://h:080/p",
    "https://[::1/p",
    "https://[h]/p",
    "https://[::1]x/p",
    "https://u@v@h/p",
    "https://u%0a:p@h/p",
    "https://u:p%0ahost=evil@h/p",
    "https://u%:p@h/p",
    "https://h/p\nq",
    "a\tb",
    "git://a b/p",
    "git://h$(id)/p",
    "ssh://u;id@h/p",
    "ssh://u:p@h/p",

    "file://h/p",
    "file://",
    "file:///a%zz",
    "[::1]:p",
    "h`id`:p",
    "https://h?x/p",
    "https://h#x/p",
    "https://h\\x/p",
};

static void refuses_what_git_would_do_more_with(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        print_message("  '%s'\n", refused[i]);
        assert_int_equal(al_url_parse(refused[i], &url, &err), AL_ERR_EXECUTION);
        assert_int_equal(err.code, AL_CODE_REMOTE_ERROR);
        assert_non_null(err.remedy);
        assert_null(url.path);
    }
}

static void never_repeats_a_password(void **state)
{
    static const char *const rows[] = { "https://user:s3cret@h%x/p", "foo://user:s3cret@h/p",
                                        "https://user:s3cret@@h/p", "ssh://user:s3cret@h/p" };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(al_url_parse(rows[i], &url, &err), AL_ERR_EXECUTION);
        assert_null(strstr(err.message, "s3cret"));
    }
}

static void has_a_longest_address(void **state)
{
    char text[AL_URL_MAX_BYTES + 2];

    (void)state;
    for (int extra = -1; extra <= 1; extra++) {
        al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
        size_t len = (size_t)(AL_URL_MAX_BYTES + extra);

        memset(text, 'a', len);
        text[0] = '/';
        text[len] = '\0';
        assert_int_equal(al_url_parse(text, &url, NULL), extra > 0 ? AL_ERR_EXECUTION : 0);
    }
}

static void hides_user_information_in_any_text(void **state)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        { "no address", "no address" },
        { "fatal: unable to access 'https://u:p@h/p/': x", "fatal: unable to access "
                                                           "'https://[redacted]@h/p/': x" },
        { "https://t@h/p and http://a:b@c", "https://[redacted]@h/p and http://[redacted]@c" },
        { "ssh://git@h/p", "ssh://git@h/p" },
        { "ssh://u:p@h/p", "ssh://[redacted]@h/p" },
        { "https://h/a@b", "https://h/a@b" },
        { "https://h a@b", "https://h a@b" },
        { "://", "://" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        al_url_redact(rows[i].text, strlen(rows[i].text), &out);
        assert_string_equal(out.buf, rows[i].shown);
    }
}

static void shows_an_address_as_one_safe_line(void **state)
{
    al_auto(al_freep) char *escape = al_url_shown("https://u:p\033[31m w@h/\033[2Jp\nq");

    (void)state;
    assert_string_equal(escape, "https://[redacted]@h/p<U+000A>q");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_addresses_apart),
        cmocka_unit_test(knows_what_a_credential_is_for),
        cmocka_unit_test(refuses_what_git_would_do_more_with),
        cmocka_unit_test(never_repeats_a_password),
        cmocka_unit_test(has_a_longest_address),
        cmocka_unit_test(hides_user_information_in_any_text),
        cmocka_unit_test(shows_an_address_as_one_safe_line),
    };

    return cmocka_run_group_tests_name("guard_url", tests, NULL, NULL);
}
