// SPDX-License-Identifier: Apache-2.0
/* al_sandbox_import() and al_sandbox_remove(): only the version that the caller knows is
 * replaced or removed. */
#include <sys/stat.h>

#include "tests/unit/staging/sandbox/sandbox_lib.h"

static struct al_sandbox_version version_of(const char *text, unsigned mode)
{
    struct al_sandbox_version version = { .mode = mode };

    al_oid_of(false, AL_OBJECT_BLOB, text, strlen(text), &version.oid);
    return version;
}

/* Somebody who writes while the content of an import arrives. */
struct writer {
    struct store store;
    struct box *box;
    const char *path, *text;
};

static int read_and_write(void *payload, const char *const *oids, size_t count, al_blob_take *take,
                          void *take_payload, struct al_error *err)
{
    struct writer *writer = payload;

    if (writer->path)
        box_write(writer->box, writer->path, writer->text);
    return store_read(&writer->store, oids, count, take, take_payload, err);
}

/* Import "first" over a version; `written` is written to the file meanwhile.  NULL: nothing is. */
static int import_over(struct box *box, const char *path, const char *text, const char *written,
                       struct al_error *err)
{
    struct writer writer = { .box = box, .path = written ? path : NULL, .text = written };
    const struct al_blob_source source = { read_and_write, &writer };
    const struct al_sandbox_version version = version_of(text, AL_SANDBOX_MODE_FILE);
    al_auto(al_freep) char *owned = al_strdup(path);
    const struct al_str content = { .buf = (char *)(uintptr_t) "first", .len = 5 };
    const struct al_sandbox_file file = { .path = owned,
                                          .mode = AL_SANDBOX_MODE_FILE,
                                          .oid = stored_oid(1),
                                          .content = box->in_directory ? NULL : &content,
                                          .over = &version };

    return import_from(box->sandbox, &file, 1, &source, err);
}

static void assert_refused(int r, struct al_error *err)
{
    assert_failed(r, err, AL_ERR_EXECUTION, "was changed meanwhile by somebody else; try again");
}

static void replaces_the_known_version(void **state)
{
    struct box *box = *state;
    struct al_error err = AL_ERROR_INIT;

    box_write(box, "a", "old");
    assert_int_equal(import_over(box, "a", "old", NULL, &err), 0);
    assert_content(box, "a", "first");
    box_write(box, "a", "old");
    assert_snapshot(box, "100644 a");
    box_write(box, "a", "old"); /* again, with the same content */
    assert_int_equal(import_over(box, "a", "old", NULL, &err), 0);
    assert_content(box, "a", "first");
}

static void leaves_another_version(void **state)
{
    struct box *box = *state;
    struct al_error err = AL_ERROR_INIT;

    box_write(box, "a", "mine");
    assert_refused(import_over(box, "a", "old", NULL, &err), &err);
    assert_content(box, "a", "mine");
    assert_refused(import_over(box, "missing", "old", NULL, &err), &err);
    assert_list(box, "", NULL, "a");
}

/* The file is as it was known when the import begins, and another one when its content is there. */
static void leaves_what_is_written_meanwhile(void **state)
{
    struct box *box = *state;
    struct al_error err = AL_ERROR_INIT;

    box_write(box, "a", "old");
    assert_snapshot(box, "100644 a");
    assert_refused(import_over(box, "a", "old", "mine", &err), &err);
    assert_content(box, "a", "mine");
    assert_list(box, "", NULL, "a");
}

static void removes_only_the_known_version(void **state)
{
    struct box *box = *state;
    struct al_error err = AL_ERROR_INIT;
    const struct al_sandbox_version old = version_of("old", AL_SANDBOX_MODE_FILE);
    const struct al_sandbox_version executable = version_of("mine", AL_SANDBOX_MODE_EXECUTABLE);
    const struct al_sandbox_version mine = version_of("mine", AL_SANDBOX_MODE_FILE);

    box_write(box, "d/a", "old");
    assert_snapshot(box, "100644 d/a");
    box_write(box, "d/a", "mine");
    assert_refused(al_sandbox_remove(box->sandbox, "d/a", &old, &err), &err);
    assert_refused(al_sandbox_remove(box->sandbox, "d/a", &executable, &err), &err);
    assert_content(box, "d/a", "mine");
    assert_int_equal(al_sandbox_remove(box->sandbox, "d/a", &mine, &err), 0);
    assert_list(box, "", NULL, "");
    assert_int_equal(al_sandbox_remove(box->sandbox, "d/a", &mine, &err), AL_ERR_NOT_FOUND);
    al_error_clear(&err);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        IN_BOTH(replaces_the_known_version),
        IN_BOTH(leaves_another_version),
        cmocka_unit_test_setup_teardown(leaves_what_is_written_meanwhile, setup_directory,
                                        box_teardown),
        IN_BOTH(removes_only_the_known_version),
    };

    return cmocka_run_group_tests_name("sandbox/versions", tests, NULL, NULL);
}
