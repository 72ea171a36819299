// SPDX-License-Identifier: Apache-2.0
/* gitops/diff/patch_split.c: each path has its own file name and its own patch, within the
 * limits. */
#include "git/diff/patch_files.h"

#include "tests/lib/assert.h"

#define NAME_LIMIT 255u

/* Patch callbacks for tests whose input has no patch. */
static bool refuse(void *payload, size_t number)
{
    (void)payload;
    (void)number;
    return false;
}

static bool refuse_bytes(void *payload, const char *data, size_t len)
{
    (void)payload;
    (void)data;
    (void)len;
    return false;
}

/* Feed records of `count` paths whose file names collide. Returns whether all are accepted. */
static bool takes_paths(struct al_patch_split *splitter, int count)
{
    for (int i = 0; i < count; i++) {
        al_auto(al_freep) char *path =
            al_asprintf("%c%c%c", 1 + i % 31, 1 + i / 31 % 31, 1 + i / 31 / 31 % 31);

        if (!al_patch_split_add(splitter, ":100644 100644 1 2 M",
                                strlen(":100644 100644 1 2 M") + 1) ||
            !al_patch_split_add(splitter, path, strlen(path) + 1))
            return false;
    }
    return true;
}

static void refuses_more_paths_than_it_writes(void **state)
{
    static const struct {
        int count;
        bool taken;
    } cases[] = { { AL_PATCHES_MAX - 1, true },
                  { AL_PATCHES_MAX, true },
                  { AL_PATCHES_MAX + 1, false } };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_patch_split_clear) struct al_patch_split splitter =
            AL_PATCH_SPLIT_INIT(refuse, refuse_bytes, NULL);

        assert_int_equal(takes_paths(&splitter, cases[i].count), cases[i].taken);
        assert_int_equal(al_patch_split_check_limits(&splitter, &err),
                         cases[i].taken ? 0 : AL_ERR_EXECUTION);
        assert_true(cases[i].taken || strstr(err.message, "more than 10000"));
    }
}

static void numbers_names_that_collide_one_after_the_other(void **state)
{
    al_auto(al_patch_split_clear) struct al_patch_split splitter =
        AL_PATCH_SPLIT_INIT(refuse, refuse_bytes, NULL);

    (void)state;
    assert_true(takes_paths(&splitter, AL_PATCHES_MAX));
    assert_int_equal(splitter.names.count, AL_PATCHES_MAX);
    assert_string_equal(splitter.names.items[0], "___.patch");
    for (size_t i = 1; i < splitter.names.count; i++) {
        al_auto(al_freep) char *expected = al_asprintf("___-%zu.patch", i + 1);

        assert_string_equal(splitter.names.items[i], expected);
    }
}

/* Whether the file name for a path of this length is short enough. */
static bool takes_length(size_t len)
{
    al_auto(al_patch_split_clear) struct al_patch_split splitter =
        AL_PATCH_SPLIT_INIT(refuse, refuse_bytes, NULL);
    al_auto(al_str_clear) struct al_str stream = AL_STR_INIT;

    al_str_add(&stream, ":100644 100644 1 2 M", sizeof(":100644 100644 1 2 M"));
    for (size_t i = 0; i < len; i++)
        al_str_addc(&stream, 'x');
    assert_true(al_patch_split_add(&splitter, stream.buf, stream.len + 1));
    assert_int_equal(splitter.names.count, 1);
    return al_patch_split_check_limits(&splitter, NULL) == 0;
}

static void refuses_a_name_no_file_can_have(void **state)
{
    const size_t most = NAME_LIMIT - strlen(".patch");

    (void)state;
    assert_true(takes_length(most - 1));
    assert_true(takes_length(most));
    assert_false(takes_length(most + 1));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_more_paths_than_it_writes),
        cmocka_unit_test(numbers_names_that_collide_one_after_the_other),
        cmocka_unit_test(refuses_a_name_no_file_can_have),
    };

    return cmocka_run_group_tests_name("gitops/splitter", tests, NULL, NULL);
}
