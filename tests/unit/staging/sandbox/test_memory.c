// SPDX-License-Identifier: Apache-2.0
/* staging/sandbox/memory.c: how much is kept, and files that stay in their store. */
#include "tests/unit/staging/sandbox/sandbox_lib.h"

/* A write of a file with a name of one byte, and this much content. */
static int write_bytes(struct box *box, const char *path, size_t len, struct al_error *err)
{
    al_auto(al_freep) char *data = al_calloc(len ? len : 1, 1);

    return al_sandbox_write(box->sandbox, path, data, len, err);
}

static const size_t one = AL_SANDBOX_FILE_BYTES + 1; /* a file without content */

static void counts_imported_files_without_their_content(void **state)
{
    struct box *box = *state;
    struct store store = { .reads = 0 };
    struct al_error err = AL_ERROR_INIT;

    assert_int_equal(write_bytes(box, "a", BOX_BYTES - 2 * one, &err), 0);
    assert_failed(box_import(box, &store, "bb", AL_SANDBOX_MODE_FILE, 1, &err), &err,
                  AL_ERR_EXECUTION, "the sandbox is full");
    assert_int_equal(box_import(box, &store, "b", AL_SANDBOX_MODE_FILE, 1, &err), 0);
    assert_content(box, "b", "first");
    assert_failed(write_bytes(box, "b", 1, &err), &err, AL_ERR_EXECUTION, "the sandbox is full");
    assert_content(box, "b", "first");
    assert_int_equal(write_bytes(box, "b", 0, &err), 0);
    assert_content(box, "b", "");
}

static void imports_content_that_no_store_has(void **state)
{
    static const size_t left[] = { 6, 5, 4 }; /* "first" has 5 bytes */
    struct box *box = *state;
    const struct al_str content = { .buf = (char *)(uintptr_t) "first", .len = 5 };
    char path[] = "z";
    const struct al_sandbox_file file = { .path = path, .mode = 0100755, .content = &content };
    struct al_error err = AL_ERROR_INIT;

    for (size_t i = 0; i < COUNT(left); i++) {
        assert_int_equal(write_bytes(box, "a", BOX_BYTES - 2 * one - left[i], &err), 0);
        if (left[i] < 5) {
            assert_failed(al_sandbox_import(box->sandbox, &file, 1, &err), &err, AL_ERR_EXECUTION,
                          "the sandbox is full");
            assert_list(box, "", NULL, "a");
            continue;
        }
        assert_int_equal(al_sandbox_import(box->sandbox, &file, 1, &err), 0);
        assert_content(box, "z", "first");
        assert_snapshot(box, "100644 a, 100755 z");
        box_remove(box, "z");
    }
}

static void reads_an_imported_file_when_it_is_needed(void **state)
{
    struct box *box = *state;
    struct store store = { .box = box };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_error err = AL_ERROR_INIT;
    uint64_t size = 0;

    assert_int_equal(box_import(box, &store, "f", AL_SANDBOX_MODE_FILE, 2, &err), 0);
    assert_snapshot(box, "100644 f");
    assert_int_equal(store.reads, 0);
    assert_int_equal(al_sandbox_read(box->sandbox, "f", 1, 3, &text, &size, &err), 0);
    assert_string_equal(text.buf, "eco");
    assert_int_equal(size, 6);
    assert_int_equal(store.reads, 1);
    box_write(box, "f", "own");
    assert_content(box, "f", "own");
    assert_int_equal(store.reads, 1);
}

static void reports_what_the_store_says(void **state)
{
    struct box *box = *state;
    struct store store = { .fails = true };
    struct al_error err = AL_ERROR_INIT;

    assert_int_equal(box_import(box, &store, "f", AL_SANDBOX_MODE_FILE, 2, &err), 0);
    assert_read_fails(box, "f", AL_ERR_EXECUTION, "the store fails");
    box_write(box, "f", "own");
    assert_content(box, "f", "own");
}

/* `printf 'one\n' | git hash-object --stdin` in a repository with SHA-256. */
static void knows_the_blob_by_sha256_too(void **state)
{
    const struct al_sandbox_options options = { .max_bytes = BOX_BYTES, .sha256 = true };
    struct al_sandbox *sandbox;
    struct al_sandbox_files files;
    struct al_error err = AL_ERROR_INIT;
    char text[AL_OID_TEXT];

    (void)state;
    assert_int_equal(al_sandbox_new(&options, &sandbox, &err), 0);
    assert_int_equal(al_sandbox_write(sandbox, "a", "one\n", 4, &err), 0);
    assert_int_equal(al_sandbox_snapshot(sandbox, &files, &err), 0);
    al_oid_text(&files.items[0].oid, true, text);
    assert_string_equal(text, "a4ed1f355afb02d88cd291d0e4463910c5061ece48a49aa2b1539b9af973b286");
    al_sandbox_files_clear(&files);
    al_sandbox_free(sandbox);
}

static void is_not_in_a_directory(void **state)
{
    struct box *box = *state;

    box_write(box, "f", "x");
    assert_null(al_sandbox_dir(box->sandbox));
    assert_null(tmpdir_read(box->dir, "ws/f"));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup_memory, box_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(counts_imported_files_without_their_content),
        TEST(imports_content_that_no_store_has),
        TEST(reads_an_imported_file_when_it_is_needed),
        TEST(reports_what_the_store_says),
        TEST(knows_the_blob_by_sha256_too),
        TEST(is_not_in_a_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
