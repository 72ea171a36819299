// SPDX-License-Identifier: Apache-2.0
/* AL_SANDBOX_FILES_MAX, which is 12 here. */
#include "tests/unit/staging/sandbox/sandbox_lib.h"

_Static_assert(AL_SANDBOX_FILES_MAX == 12, "a test that creates more files takes an hour");

static void fill(struct box *box, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        al_auto(al_freep) char *name = al_asprintf("f%02u", i);
        al_auto(al_freep) char *path = al_asprintf("ws/%s", name);

        if (box->in_directory)
            tmpdir_write(box->dir, path, "");
        else
            box_write(box, name, "");
    }
}

static void takes_as_many_files(void **state)
{
    struct box *box = *state;
    al_auto(al_freep) char *list = NULL;

    fill(box, AL_SANDBOX_FILES_MAX - 1);
    box_write(box, "last", "");
    list = box_list(box, "", NULL);
    assert_true(al_ends_with(list, "f10 last"));
    free(box_snapshot(box));
}

static void writes_no_more_into_memory(void **state)
{
    struct box *box = *state;
    struct store store = { .reads = 0 };
    struct al_error err = AL_ERROR_INIT;

    fill(box, AL_SANDBOX_FILES_MAX);
    assert_write_fails(box, "more", "", AL_ERR_EXECUTION, "the sandbox holds more than 12 files");
    assert_failed(box_import(box, &store, "more", AL_SANDBOX_MODE_FILE, 1, &err), &err,
                  AL_ERR_EXECUTION, "the sandbox holds more than 12 files");
    box_write(box, "f00", "replaced");
    assert_int_equal(box_import(box, &store, "f01", AL_SANDBOX_MODE_FILE, 1, &err), 0);
}

static void lists_no_more_of_a_directory(void **state)
{
    struct box *box = *state;
    struct al_sandbox_files files;
    struct al_error err = AL_ERROR_INIT;

    fill(box, AL_SANDBOX_FILES_MAX + 1);
    assert_list(box, "", NULL, "error: the sandbox holds more than 12 files");
    assert_failed(al_sandbox_snapshot(box->sandbox, &files, &err), &err, AL_ERR_EXECUTION,
                  "more than 12 files");
    assert_content(box, "f00", "");
    box_remove(box, "f00");
    free(box_snapshot(box));
}

static void bounds_directories_as_well(void **state)
{
    struct box *box = *state;

    for (unsigned i = 0; i < AL_SANDBOX_FILES_MAX; i++) {
        al_auto(al_freep) char *name = al_asprintf("ws/d%02u", i);

        tmpdir_mkdir(box->dir, name);
    }
    assert_list(box, "", NULL, "");
    tmpdir_mkdir(box->dir, "ws/more");
    assert_list(box, "", NULL, "error: the sandbox holds more than 12 files");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BOTH(takes_as_many_files),
        cmocka_unit_test_setup_teardown(writes_no_more_into_memory, setup_memory, box_teardown),
        cmocka_unit_test_setup_teardown(lists_no_more_of_a_directory, setup_directory,
                                        box_teardown),
        cmocka_unit_test_setup_teardown(bounds_directories_as_well, setup_directory, box_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
