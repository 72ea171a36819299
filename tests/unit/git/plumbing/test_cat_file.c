// SPDX-License-Identifier: Apache-2.0
/* git/plumbing/bare.c: objects are read byte for byte however their bytes arrive. */
#include "git/plumbing/bare.h"
#include "tests/unit/git/lib.h"

/* "oid type size|bytes|" of each object. */
static bool begin(void *payload, const char *oid, const char *type, uint64_t size)
{
    al_str_addf(payload, "%s %s %u|", oid, type ? type : "-", (unsigned)size);
    return true;
}

static bool add(void *payload, const char *data, size_t len, bool last)
{
    al_str_add(payload, data, len);
    if (last)
        al_str_addc(payload, '|');
    return true;
}

static void reads_answers_split_anywhere(void **state)
{
    static const char answer[] = "aa blob 3\nx\ny\nb c missing\ncc tree 0\n\ndd commit 2\n\n\n\n";

    (void)state;
    for (size_t piece = 1; piece < sizeof(answer); piece++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
        al_auto(al_cat_file_clear) struct al_cat_file reader = AL_CAT_FILE_INIT(begin, add, &out);

        for (size_t at = 0, n; at < strlen(answer); at += n) {
            n = strlen(answer) - at < piece ? strlen(answer) - at : piece;
            assert_true(al_cat_file_add(&reader, answer + at, n));
        }
        assert_true(al_cat_file_is_whole(&reader));
        assert_string_equal(out.buf, "aa blob 3|x\ny|b c - 0|cc tree 0||dd commit 2|\n\n|");
    }
}

static void tells_what_git_does_not_print(void **state)
{
    static const char *const broken[] = {
        "aa blob 3\nabcd",    "aa blob -3\n", "aa blob 3x\nabc\n",   "xx blob 3\nabc\n",
        "aa blob 4\nabcd\nb", "aa 3\n",       "aa blob 3\nabc\nbb ", "aa\n",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(broken); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
        al_auto(al_cat_file_clear) struct al_cat_file reader = AL_CAT_FILE_INIT(begin, add, &out);

        (void)al_cat_file_add(&reader, broken[i], strlen(broken[i]));
        assert_false(al_cat_file_is_whole(&reader));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_answers_split_anywhere),
        cmocka_unit_test(tells_what_git_does_not_print),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
