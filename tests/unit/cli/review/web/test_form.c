// SPDX-License-Identifier: Apache-2.0
/* cli/review/web/form.h: fields are decoded, and a form is read whole or not at all. */
#include "cli/review/web/private.h"

#include "tests/lib/assert.h"
#include "util/mem.h"

static bool read_text(const char *text, struct al_web_form *form)
{
    return al_web_form_read(text, strlen(text), form);
}

static void test_fields(void **state)
{
    al_auto(al_web_form_clear) struct al_web_form form = AL_WEB_FORM_INIT;

    (void)state;
    assert_true(read_text("decision=reject&reason=no%2C+%c3%BC%26%3D&csrf&&a%3d=b=c", &form));
    assert_string_equal(al_web_form_get(&form, "decision"), "reject");
    assert_string_equal(al_web_form_get(&form, "reason"), "no, \xc3\xbc&=");
    assert_string_equal(al_web_form_get(&form, "csrf"), "");
    assert_string_equal(al_web_form_get(&form, "a="), "b=c");
    assert_null(al_web_form_get(&form, "newest"));
}

static void test_wrong(void **state)
{
    static const char *const texts[] = { "a=%", "a=%4", "a=%4g", "a=%00", "%zz=1", "a=1&a=2" };
    struct al_web_form form;

    (void)state;
    for (size_t i = 0; i < AL_COUNT(texts); i++)
        assert_false(read_text(texts[i], &form));
    assert_false(al_web_form_read("a=\0b", 4, &form));
    assert_true(read_text("", &form));
    al_web_form_clear(&form);
}

static void test_limits(void **state)
{
    al_auto(al_str_clear) struct al_str many = AL_STR_INIT;
    char *text = al_calloc(AL_WEB_FORM_MAX_BYTES + 1, 1);
    struct al_web_form form;

    (void)state;
    for (size_t i = 0; i <= AL_WEB_FIELDS_MAX; i++) {
        assert_int_equal(al_web_form_read(many.buf ? many.buf : "", many.len, &form), true);
        assert_int_equal(form.names.count, i);
        al_web_form_clear(&form);
        al_str_addf(&many, "n%zu=1&", i);
    }
    assert_false(al_web_form_read(many.buf, many.len, &form));
    memset(text, 'x', AL_WEB_FORM_MAX_BYTES + 1);
    assert_true(al_web_form_read(text, AL_WEB_FORM_MAX_BYTES - 1, &form));
    al_web_form_clear(&form);
    assert_true(al_web_form_read(text, AL_WEB_FORM_MAX_BYTES, &form));
    al_web_form_clear(&form);
    assert_false(al_web_form_read(text, AL_WEB_FORM_MAX_BYTES + 1, &form));
    free(text);
}

static void test_numbers(void **state)
{
    uint64_t number = 0;

    (void)state;
    assert_true(al_web_number("18446744073709551615", &number));
    assert_true(number == UINT64_MAX);
    assert_false(al_web_number("18446744073709551616", &number));
    assert_false(al_web_number("", &number));
    assert_false(al_web_number(NULL, &number));
    assert_false(al_web_number("-1", &number));
    assert_false(al_web_number("1 ", &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
