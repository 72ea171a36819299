// SPDX-License-Identifier: Apache-2.0
/* cli/review/web/keys.h: a link opens the page once, a cookie is whole or none, and of links and
 * browsers there are AL_WEB_KEYS_MAX: the oldest goes. */
#include "review/web/private.h"

#include "base/str.h"
#include "tests/lib/assert.h"

/* The header that a browser sends. */
static char *header_of(const struct al_web_key *cookie)
{
    return al_asprintf("other=1; " AL_WEB_COOKIE "=%s; more=2", cookie->text);
}

static bool is_known(struct al_web_keys *keys, const struct al_web_key *cookie)
{
    al_auto(al_freep) char *header = header_of(cookie);
    struct al_web_key csrf;

    return al_web_keys_find(keys, header, &csrf);
}

static void test_once(void **state)
{
    struct al_web_keys *keys = al_web_keys_new();
    struct al_web_key key, other, cookie, csrf, again;
    char *header;

    (void)state;
    al_web_keys_make(keys, &key);
    al_web_keys_make(keys, &other);
    assert_int_equal(strlen(key.text), AL_WEB_KEY_CHARS);
    assert_string_not_equal(key.text, other.text);
    assert_false(al_web_keys_use(keys, NULL, &cookie));
    assert_false(al_web_keys_use(keys, "", &cookie));
    assert_false(al_web_keys_use(keys, "0123456789abcdef0123456789abcdef", &cookie));
    assert_true(al_web_keys_use(keys, key.text, &cookie));
    assert_false(al_web_keys_use(keys, key.text, &again));
    header = header_of(&cookie);
    assert_true(al_web_keys_find(keys, header, &csrf));
    assert_string_not_equal(csrf.text, cookie.text);
    assert_true(al_web_key_is(&csrf, csrf.text));
    assert_false(al_web_key_is(&csrf, cookie.text));
    assert_false(al_web_key_is(&csrf, NULL));
    free(header);
    al_web_keys_free(keys);
}

static void test_cookies(void **state)
{
    struct al_web_keys *keys = al_web_keys_new();
    struct al_web_key key, cookie, csrf;
    char *text;

    (void)state;
    al_web_keys_make(keys, &key);
    assert_true(al_web_keys_use(keys, key.text, &cookie));
    assert_false(al_web_keys_find(keys, NULL, &csrf));
    assert_false(al_web_keys_find(keys, "", &csrf));
    assert_false(al_web_keys_find(keys, AL_WEB_COOKIE "=", &csrf));
    text = al_asprintf(AL_WEB_COOKIE "=%s0", cookie.text);
    assert_false(al_web_keys_find(keys, text, &csrf));
    text[strlen(text) - 2] = '\0';
    assert_false(al_web_keys_find(keys, text, &csrf));
    free(text);
    text = al_asprintf("x" AL_WEB_COOKIE "=%s", cookie.text);
    assert_false(al_web_keys_find(keys, text, &csrf));
    free(text);
    al_web_keys_free(keys);
}

static void test_limits(void **state)
{
    struct al_web_keys *keys = al_web_keys_new();
    struct al_web_key links[AL_WEB_KEYS_MAX + 1], cookies[AL_WEB_KEYS_MAX + 1], none;

    (void)state;
    for (size_t i = 0; i <= AL_WEB_KEYS_MAX; i++)
        al_web_keys_make(keys, &links[i]);
    assert_false(al_web_keys_use(keys, links[0].text, &none));
    for (size_t i = 1; i <= AL_WEB_KEYS_MAX; i++)
        assert_true(al_web_keys_use(keys, links[i].text, &cookies[i - 1]));
    for (size_t i = 0; i < AL_WEB_KEYS_MAX; i++)
        assert_true(is_known(keys, &cookies[i]));
    al_web_keys_make(keys, &links[0]);
    assert_true(al_web_keys_use(keys, links[0].text, &cookies[AL_WEB_KEYS_MAX]));
    assert_false(is_known(keys, &cookies[0]));
    for (size_t i = 1; i <= AL_WEB_KEYS_MAX; i++)
        assert_true(is_known(keys, &cookies[i]));
    al_web_keys_free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_cookies),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
