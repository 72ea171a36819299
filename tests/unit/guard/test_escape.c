// SPDX-License-Identifier: Apache-2.0
/* guard/escape.c: escaped JSON keeps its value, and nothing in it is invisible. */
#include "guard/text.h"

#include "tests/lib/assert.h"

#define BAD "\xef\xbf\xbd"

static void json_is_shown_and_stays_the_same_value(void **state)
{
    static const struct {
        const char *in, *out;
    } facts[] = {
        { "", "" },
        { "{\"a\":[\"b\\n\"]}", "{\"a\":[\"b\\n\"]}" },
        { "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"" },
        { "\"\xe2\x80\xae\"", "\"\\u202e\"" },
        { "\"\xc2\x9b\x7f\xc2\xad\"", "\"\\u009b\\u007f\\u00ad\"" },
        { "\"\xf3\xa0\x80\x81\"", "\"\\udb40\\udc01\"" },
        { "\"\xff\xe2\x80\"", "\"" BAD BAD BAD "\"" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        al_text_escape_json(facts[i].in, strlen(facts[i].in), &out);
        assert_string_equal(out.buf, facts[i].out);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_shown_and_stays_the_same_value),
    };

    return cmocka_run_group_tests_name("guard/escape", tests, NULL, NULL);
}
