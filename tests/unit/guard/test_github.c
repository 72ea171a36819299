// SPDX-License-Identifier: Apache-2.0
/* guard/github.h: names of repositories, and where a token may be sent. */
#include "guard/url.h"

#include "base/str.h"
#include "tests/lib/assert.h"

#define OWNER_39 "a23456789012345678901234567890123456789"
#define NAME_100                                                                                   \
    "a234567890123456789012345678901234567890123456789"                                            \
    "012345678901234567890123456789012345678901234567890"

static void accepts_github_names(void **state)
{
    static const char *const good[] = {
        "o/r", "user/reports", "User-Name/a.b_c-d", "octo_corp/x", "o/.github",
        "o/_", "9/9",          OWNER_39 "/r",       "o/" NAME_100, "o/...",
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(good); i++)
        assert_int_equal(al_github_check_repo("target.repo", good[i], NULL), 0);
}

static void refuses_other_words(void **state)
{
    static const char *const bad[] = {
        "",       "r",       "o/",         "/r",           "o/r/s",
        "-o/r",   "o/-r",    "o/..",       "../r",         "o/.",
        "o.o/r",  "o/r.git", "o/r?x",      "o/r#x",        "o/r x",
        "o/r\n",  "o@h/r",   "o:p/r",      "o/r%2e",       "https://h/o/r",
        "o\\r/s", "o//r",    "\xc3\xb6/r", OWNER_39 "x/r", "o/" NAME_100 "x",
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(bad); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        print_message("# %s\n", bad[i]);
        assert_int_equal(al_github_check_repo("target.repo", bad[i], &err), AL_ERR_BAD_ARGS);
        assert_non_null(strstr(err.message, "target.repo must be 'owner/name'"));
        assert_null(strchr(err.message, '\n'));
    }
}

static void joins_the_base_and_the_name(void **state)
{
    static const struct {
        const char *base, *address;
    } rows[] = {
        { "https://github.com", "https://github.com/o/r.git" },
        { "https://github.com/", "https://github.com/o/r.git" },
        { "http://127.0.0.1:80/git//", "http://127.0.0.1:80/git/o/r.git" },
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(rows); i++) {
        al_auto(al_freep) char *address = al_github_address(rows[i].base, "o/r");

        assert_string_equal(address, rows[i].address);
    }
}

static void a_token_goes_over_https_or_to_this_machine(void **state)
{
    static const struct {
        const char *address;
        bool is_safe;
    } rows[] = {
        { "https://github.com/o/r", true },       { "https://ghe.corp:8443/o/r", true },
        { "http://localhost:1/o/r", true },       { "http://127.0.0.1/o/r", true },
        { "http://[::1]:80/o/r", true },          { "http://github.com/o/r", false },
        { "http://127.0.0.1.evil.org/r", false }, { "http://localhost.evil.org/r", false },
        { "ssh://github.com/r", false },          { "git://localhost/r", false },
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(rows); i++) {
        al_auto(al_url_clear) struct al_url url = AL_URL_INIT;

        print_message("# %s\n", rows[i].address);
        assert_int_equal(al_url_parse(rows[i].address, &url, NULL), 0);
        assert_int_equal(al_github_is_safe(&url), rows[i].is_safe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_github_names),
        cmocka_unit_test(refuses_other_words),
        cmocka_unit_test(joins_the_base_and_the_name),
        cmocka_unit_test(a_token_goes_over_https_or_to_this_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
