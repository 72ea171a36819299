// SPDX-License-Identifier: Apache-2.0
/* staging/size.h: sizes as git_status shows them. */
#include "staging/staged.h"
#include "tests/lib/assert.h"

static void is_short(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        { 0, "0 B" },
        { 102, "102 B" },
        { 103, "0.1 KB" },
        { 819, "0.8 KB" },
        { 1024, "1.0 KB" },
        { 1229, "1.2 KB" },
        { 1048524, "1023.9 KB" },
        { 1048525, "1.0 MB" },
        { 1048576, "1.0 MB" },
        { UINT64_C(1610612736), "1.5 GB" },
        { UINT64_C(1) << 50, "1024.0 TB" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        al_size_add(&text, cases[i].bytes);
        assert_string_equal(text.buf, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(is_short) };

    return cmocka_run_group_tests_name("staging/size", tests, NULL, NULL);
}
