// SPDX-License-Identifier: Apache-2.0
/* max_bytes, at the limit and one byte beside it. */
#include "tests/unit/staging/sandbox/sandbox_lib.h"

/* A write of a file with a name of one byte, and this much content. */
static int write_bytes(struct box *box, const char *path, size_t len, struct al_error *err)
{
    al_auto(al_freep) char *data = al_calloc(len ? len : 1, 1);

    return al_sandbox_write(box->sandbox, path, data, len, err);
}

static const size_t one = AL_SANDBOX_FILE_BYTES + 1; /* a file without content */

static void is_full_at_its_bound(void **state)
{
    struct box *box = *state;
    struct al_error err = AL_ERROR_INIT;

    assert_int_equal(write_bytes(box, "a", BOX_BYTES - one - 1, &err), 0);
    assert_int_equal(write_bytes(box, "a", BOX_BYTES - one, &err), 0);
    assert_failed(write_bytes(box, "a", BOX_BYTES - one + 1, &err), &err, AL_ERR_EXECUTION,
                  "the sandbox is full: it would hold 10001 of 10000 bytes; delete files or raise "
                  "staging.max_bytes");
    assert_failed(write_bytes(box, "b", 0, &err), &err, AL_ERR_EXECUTION, "the sandbox is full");
    assert_list(box, "", NULL, "a");
}

static void keeps_the_old_content_when_it_is_full(void **state)
{
    struct box *box = *state;
    struct al_error err = AL_ERROR_INIT;

    box_write(box, "a", "old");
    box_write(box, "b", "other");
    assert_true(write_bytes(box, "a", BOX_BYTES - 2 * one, &err) < 0);
    al_error_clear(&err);
    assert_content(box, "a", "old");
    assert_content(box, "b", "other");
}

static void has_room_again_when_files_go(void **state)
{
    struct box *box = *state;
    struct al_error err = AL_ERROR_INIT;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(write_bytes(box, "a", BOX_BYTES - one, &err), 0);
        assert_true(write_bytes(box, "b", 0, &err) < 0);
        al_error_clear(&err);
        assert_int_equal(write_bytes(box, "a", BOX_BYTES - 2 * one, &err), 0);
        assert_int_equal(write_bytes(box, "b", 0, &err), 0);
        box_remove(box, "a");
        box_remove(box, "b");
    }
}

/* The longer name is what does not fit. */
static void counts_names(void **state)
{
    struct box *box = *state;
    struct al_error err = AL_ERROR_INIT;

    assert_int_equal(write_bytes(box, "a", BOX_BYTES - 2 * one, &err), 0);
    assert_failed(write_bytes(box, "bb", 0, &err), &err, AL_ERR_EXECUTION, "the sandbox is full");
    assert_int_equal(write_bytes(box, "b", 0, &err), 0);
}

/* A file that was there before can be replaced by one as large, and the room of one that is deleted
 * is free. */
static void does_not_count_files_of_others(void **state)
{
    struct box *box = *state;
    struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *large = al_calloc(2 * BOX_BYTES, 1);

    tmpdir_write_bytes(box->dir, "ws/o", large, 2 * BOX_BYTES - 1);
    assert_int_equal(write_bytes(box, "a", BOX_BYTES - one, &err), 0);
    assert_true(write_bytes(box, "b", 0, &err) < 0);
    al_error_clear(&err);
    assert_int_equal(write_bytes(box, "o", BOX_BYTES, &err), 0);
    assert_int_equal(write_bytes(box, "b", BOX_BYTES - one - 1, &err), 0);
    assert_true(write_bytes(box, "c", 0, &err) < 0);
    al_error_clear(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BOTH(is_full_at_its_bound),
        IN_BOTH(keeps_the_old_content_when_it_is_full),
        IN_BOTH(has_room_again_when_files_go),
        IN_BOTH(counts_names),
        cmocka_unit_test_setup_teardown(does_not_count_files_of_others, setup_directory,
                                        box_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
