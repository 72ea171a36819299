// SPDX-License-Identifier: Apache-2.0
/* staging/sandbox/sandbox.h: what holds for files in memory and in a directory alike. */
#include "tests/unit/staging/sandbox/sandbox_lib.h"

static void reads_what_was_written(void **state)
{
    struct box *box = *state;

    box_write(box, "notes.md", "one\n");
    box_write(box, "deep/er/empty", "");
    box_write(box, "notes.md", "two\n");
    assert_content(box, "notes.md", "two\n");
    assert_content(box, "deep/er/empty", "");
    assert_list(box, "", NULL, "deep/er/empty notes.md");
}

static void keeps_every_byte(void **state)
{
    struct box *box = *state;
    char bytes[256];
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_error err = AL_ERROR_INIT;
    uint64_t size = 0;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    assert_int_equal(al_sandbox_write(box->sandbox, "bin", bytes, sizeof(bytes), &err), 0);
    assert_int_equal(al_sandbox_read(box->sandbox, "bin", 0, 1000, &text, &size, &err), 0);
    assert_int_equal(text.len, sizeof(bytes));
    assert_int_equal(size, sizeof(bytes));
    assert_memory_equal(text.buf, bytes, sizeof(bytes));
}

static void reads_a_part(void **state)
{
    static const struct {
        uint64_t offset;
        size_t max;
        const char *expected;
    } cases[] = {
        { 0, 10, "0123456789" }, { 0, 11, "0123456789" }, { 0, 9, "012345678" }, { 0, 0, "" },
        { 3, 4, "3456" },        { 9, 4, "9" },           { 10, 4, "" },         { 11, 4, "" },
        { UINT64_MAX, 4, "" },
    };
    struct box *box = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_error err = AL_ERROR_INIT;

    box_write(box, "f", "0123456789");
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t size = 0;

        assert_int_equal(
            al_sandbox_read(box->sandbox, "f", cases[i].offset, cases[i].max, &text, &size, &err),
            0);
        assert_string_equal(text.buf, cases[i].expected);
        assert_int_equal(size, 10);
    }
}

static void names_what_is_missing(void **state)
{
    struct box *box = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_error err = AL_ERROR_INIT;

    box_write(box, "a/b", "");
    assert_read_fails(box, "none", AL_ERR_NOT_FOUND, "no such file: '/workspace/none'");
    assert_read_fails(box, "a/none", AL_ERR_NOT_FOUND, "'/workspace/a/none'");
    assert_read_fails(box, "a/b/none", AL_ERR_NOT_FOUND, "'/workspace/a/b/none'");
    assert_remove_fails(box, "none", AL_ERR_NOT_FOUND, "'/workspace/none'");
    assert_remove_fails(box, "a/b/none", AL_ERR_NOT_FOUND, "'/workspace/a/b/none'");
    assert_list(box, "a/b/none", NULL,
                "error: no such file: '/workspace/a/b/none'; list_files shows what is there");
    assert_list(box, "none", NULL,
                "error: no such file: '/workspace/none'; list_files shows what is there");
    assert_int_equal(al_sandbox_read(box->sandbox, "none", 0, 1, &text, NULL, &err),
                     AL_ERR_NOT_FOUND);
    assert_int_equal(err.status, AL_ERR_EXECUTION);
    assert_string_equal(err.reason, "not_found");
    al_error_clear(&err);
}

static void takes_no_directory_for_a_file(void **state)
{
    struct box *box = *state;

    box_write(box, "a/b/c", "");
    for (size_t i = 0; i < 3; i++) {
        const char *path = (const char *const[]){ "", "a", "a/b" }[i];

        assert_read_fails(box, path, AL_ERR_EXECUTION, "is a directory");
        assert_remove_fails(box, path, AL_ERR_EXECUTION, "is a directory");
        assert_write_fails(box, path, "x", AL_ERR_EXECUTION, "is a directory");
    }
    assert_write_fails(box, "a/b/c/d", "x", AL_ERR_EXECUTION, "'/workspace/a/b/c/d' cannot be");
    assert_write_fails(box, "a/b/c/d/e", "x", AL_ERR_EXECUTION, "'/workspace/a/b/c/d/e' cannot be");
    assert_list(box, "", NULL, "a/b/c");
}

static void lists_in_the_order_of_bytes(void **state)
{
    struct box *box = *state;

    box_write(box, "a/b", "");
    box_write(box, "a-b", "");
    box_write(box, "a.b", "");
    box_write(box, "B", "");
    box_write(box, "ab", "");
    box_write(box, "\xc3\xa4", "");
    assert_list(box, "", NULL, "B a-b a.b a/b ab \xc3\xa4");
    assert_list(box, "a", NULL, "a/b");
    assert_list(box, "a", "b", "a/b");
    assert_list(box, "", "b", "a/b");
    assert_list(box, "", "a*", "a-b a.b ab");
    assert_list(box, "", "a/*", "a/b");
    assert_list(box, "", "none", "");
    assert_list(box, "ab", NULL, "error: '/workspace/ab' is a file; name a directory");
}

static void removes_empty_directories(void **state)
{
    struct box *box = *state;

    box_write(box, "a/b/c", "");
    box_write(box, "a/d", "");
    box_remove(box, "a/b/c");
    assert_list(box, "", NULL, "a/d");
    box_write(box, "a/b", "now a file");
    assert_content(box, "a/b", "now a file");
    box_remove(box, "a/b");
    box_remove(box, "a/d");
    assert_list(box, "", NULL, "");
    box_write(box, "a", "");
}

static void imports_with_the_mode(void **state)
{
    struct box *box = *state;
    struct store store = { .reads = 0 };
    struct al_error err = AL_ERROR_INIT;

    assert_int_equal(box_import(box, &store, "x/run", AL_SANDBOX_MODE_EXECUTABLE, 1, &err), 0);
    assert_int_equal(box_import(box, &store, "plain", AL_SANDBOX_MODE_FILE, 2, &err), 0);
    assert_int_equal(box_import(box, &store, "none", AL_SANDBOX_MODE_FILE, 0, &err), 0);
    assert_int_equal(box_import(box, &store, "link", AL_SANDBOX_MODE_LINK, 3, &err), 0);
    assert_content(box, "x/run", "first");
    assert_content(box, "plain", "second");
    assert_content(box, "none", "");
    assert_snapshot(box, "120000 link, 100644 none, 100644 plain, 100755 x/run");
    box_write(box, "x/run", "changed");
    assert_snapshot(box, "120000 link, 100644 none, 100644 plain, 100755 x/run");
    assert_int_equal(box_import(box, &store, "x/run", AL_SANDBOX_MODE_FILE, 2, &err), 0);
    assert_content(box, "x/run", "second");
    assert_snapshot(box, "120000 link, 100644 none, 100644 plain, 100644 x/run");
}

static void follows_no_link(void **state)
{
    struct box *box = *state;
    struct store store = { .reads = 0 };
    struct al_error err = AL_ERROR_INIT;

    assert_int_equal(box_import(box, &store, "link", AL_SANDBOX_MODE_LINK, 3, &err), 0);
    assert_read_fails(box, "link", AL_ERR_SANDBOX, "'/workspace/link' is a symbolic link");
    assert_write_fails(box, "link", "x", AL_ERR_SANDBOX, "'/workspace/link' is a symbolic link");
    assert_list(box, "", NULL, "link");
    box_remove(box, "link");
    assert_list(box, "", NULL, "");
}

static void imports_no_bad_path(void **state)
{
    static const char *const paths[] = {
        "",       "/a",  "a/",   "a//b",        ".",        "..",
        "a/../b", "./a", ".git", ".git/config", "a/.GIT/x", "git~1",
    };
    struct box *box = *state;
    struct store store = { .reads = 0 };

    for (size_t i = 0; i < COUNT(paths); i++) {
        struct al_error err = AL_ERROR_INIT;

        assert_true(box_import(box, &store, paths[i], AL_SANDBOX_MODE_FILE, 1, &err) < 0);
        al_error_clear(&err);
    }
    assert_int_equal(store.reads, 0);
    assert_list(box, "", NULL, "");
}

static void imports_no_other_mode(void **state)
{
    static const unsigned modes[] = { 0, 0100600, 040000, 0160000, 010644 };
    struct box *box = *state;
    struct store store = { .reads = 0 };

    for (size_t i = 0; i < COUNT(modes); i++) {
        struct al_error err = AL_ERROR_INIT;
        int r = box_import(box, &store, "a", modes[i], 1, &err);

        assert_failed(r, &err, AL_ERR_EXECUTION, "has a mode that no file of a tree has");
    }
    assert_list(box, "", NULL, "");
}

static void imports_no_file_above_or_below_another(void **state)
{
    struct box *box = *state;
    struct store store = { .reads = 0 };
    struct al_error err = AL_ERROR_INIT;

    box_write(box, "a", "x");
    box_write(box, "d/e", "x");
    assert_failed(box_import(box, &store, "a/b", AL_SANDBOX_MODE_FILE, 1, &err), &err,
                  AL_ERR_EXECUTION, "'/workspace/a/b' cannot be");
    assert_failed(box_import(box, &store, "d", AL_SANDBOX_MODE_FILE, 1, &err), &err,
                  AL_ERR_EXECUTION, "'/workspace/d' is a directory");
    assert_list(box, "", NULL, "a d/e");
}

/* The ids are those of git: `printf 'one\n' | git hash-object --stdin`. */
static void knows_the_blob_of_each_file(void **state)
{
    struct box *box = *state;
    char text[AL_OID_TEXT];

    box_write(box, "a", "one\n");
    box_write(box, "empty", "");
    snapshot_oid(box, "a", text);
    assert_string_equal(text, "5626abf0f72e58d7a153368ba57db4c673c0e171");
    snapshot_oid(box, "empty", text);
    assert_string_equal(text, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    box_write(box, "a", "two\n");
    snapshot_oid(box, "a", text);
    assert_string_equal(text, "f719efd430d52bcfc8566a43b2eb655688d38871");
    assert_snapshot(box, "100644 a, 100644 empty");
}

/* No content is as large as this and name and file beside it. */
static void refuses_a_file_that_is_too_large(void **state)
{
    struct box *box = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < BOX_BYTES + 1; i++)
        al_str_addc(&text, 'x');
    assert_write_fails(box, "f", text.buf, AL_ERR_EXECUTION, "staging.max_bytes");
    assert_list(box, "", NULL, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BOTH(reads_what_was_written),
        IN_BOTH(keeps_every_byte),
        IN_BOTH(reads_a_part),
        IN_BOTH(names_what_is_missing),
        IN_BOTH(takes_no_directory_for_a_file),
        IN_BOTH(lists_in_the_order_of_bytes),
        IN_BOTH(removes_empty_directories),
        IN_BOTH(imports_with_the_mode),
        IN_BOTH(follows_no_link),
        IN_BOTH(imports_no_bad_path),
        IN_BOTH(imports_no_other_mode),
        IN_BOTH(imports_no_file_above_or_below_another),
        IN_BOTH(knows_the_blob_of_each_file),
        IN_BOTH(refuses_a_file_that_is_too_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
