// SPDX-License-Identifier: Apache-2.0
/* base/base64.h: the test vectors of RFC 4648, and what is no base64. */
#include "base/base64.h"

#include "tests/lib/assert.h"

static const struct {
    const char *bytes, *text;
} vectors[] = {
    { "", "" },
    { "f", "Zg==" },
    { "fo", "Zm8=" },
    { "foo", "Zm9v" },
    { "foob", "Zm9vYg==" },
    { "fooba", "Zm9vYmE=" },
    { "foobar", "Zm9vYmFy" },
};

static void encodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(vectors); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        al_str_adds(&out, "before ");
        al_base64_encode(vectors[i].bytes, strlen(vectors[i].bytes), &out);
        assert_true(al_starts_with(out.buf, "before "));
        assert_string_equal(out.buf + strlen("before "), vectors[i].text);
        assert_int_equal(out.len, strlen(out.buf));
    }
}

static void decodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(vectors); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        assert_true(al_base64_decode(vectors[i].text, strlen(vectors[i].text), &out));
        assert_string_equal(out.buf, vectors[i].bytes);
    }
}

static void ignores_white_space(void **state)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    const char text[] = " Zm9v\r\nYm\tFy\n";

    (void)state;
    assert_true(al_base64_decode(text, strlen(text), &out));
    assert_string_equal(out.buf, "foobar");
}

static void refuses_other_text(void **state)
{
    static const char *const wrong[] = { "Z",    "Zg",         "Zm9",  "Zg=",     "=",    "====",
                                         "Z===", "Zg===",      "Z=g=", "Zm9v=",   "Zm-v", "Zm_v",
                                         "Zm9!", "\xc3\xa4==", "Zh==", "Zg==Zg==" };

    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        al_str_adds(&out, "before");
        if (al_base64_decode(wrong[i], strlen(wrong[i]), &out))
            fail_msg("'%s' is taken for base64", wrong[i]);
        assert_string_equal(out.buf, "before");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes),
        cmocka_unit_test(decodes),
        cmocka_unit_test(ignores_white_space),
        cmocka_unit_test(refuses_other_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
