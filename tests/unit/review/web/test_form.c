// SPDX-License-Identifier: Apache-2.0
/* review/web/form.c: fields are found by their name and decoded. */
#include "review/web/private.h"

#include "base/mem.h"
#include "tests/lib/assert.h"

static void assert_field(const char *text, const char *name, const char *wanted)
{
    al_auto(al_freep) char *value = al_web_field(text, name);

    if (wanted)
        assert_string_equal(value, wanted);
    else
        assert_null(value);
}

static void test_fields(void **state)
{
    static const char form[] = "decision=reject&reason=no%2C+%c3%BC%26%3D&csrf&&a%3d=b=c&a=1&a=2";

    (void)state;
    assert_field(form, "decision", "reject");
    assert_field(form, "reason", "no, \xc3\xbc&=");
    assert_field(form, "csrf", "");
    assert_field(form, "a=", "b=c");
    assert_field(form, "a", "1");
    assert_field(form, "newest", NULL);
    assert_field(form, "", "");
    assert_field("", "a", NULL);
    assert_field(NULL, "a", NULL);
}

static void test_wrong(void **state)
{
    static const char *const texts[] = { "a=%", "a=%4", "a=%4g", "a=%00", "%zz=1&%=a", "%61%=1" };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(texts); i++)
        assert_field(texts[i], "a", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
