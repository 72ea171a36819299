// SPDX-License-Identifier: Apache-2.0
/* wire/raw_json.h: malformed text is never read beyond its end. */
#include "base/jsonrpc.h"

#include "tests/lib/assert.h"

#include "base/mem.h"

static void slices_stay_inside_broken_text(void **state)
{
    static const char text[] = "{\"a\":[1,{\"b\":\"c\\\"\"}],\"d\":123456789012345678901}";

    (void)state;
    for (size_t len = 0; len < sizeof(text); len++) {
        al_auto(al_freep) char *cut = al_strndup(text, len); /* a sanitizer watches its end */
        struct al_raw_json whole = { cut, len }, found = al_raw_json_member(whole, "d");
        size_t wide_len;
        al_auto(al_freep) al_unused char *wide = al_raw_json_widen(whole, &wide_len);

        assert_true(!found.at || (found.at >= cut && found.at + found.len <= cut + len));
        assert_true(al_raw_json_count_values(whole) <= len + 1);
        assert_true(wide_len >= len);
        (void)al_raw_json_next(whole, (struct al_raw_json){ NULL, 0 });
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_stay_inside_broken_text),
    };

    return cmocka_run_group_tests_name("wire/raw_json", tests, NULL, NULL);
}
