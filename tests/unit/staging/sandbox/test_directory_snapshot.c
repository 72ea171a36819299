// SPDX-License-Identifier: Apache-2.0
/* sandbox/directory_snapshot.c: what is seen of a file.  The read is this file's own. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/staging/sandbox/sandbox_lib.h"

#define NOBODY 65534

static const struct box *grows; /* its file "f" grows while it is read */

ssize_t __real_read(int fd, void *buf, size_t count);
ssize_t __wrap_read(int fd, void *buf, size_t count);

ssize_t __wrap_read(int fd, void *buf, size_t count)
{
    ssize_t n = __real_read(fd, buf, count);

    if (n > 0 && grows) {
        int more = openat(grows->dir->fd, "ws/f", O_WRONLY | O_APPEND);

        assert_int_equal(write(more, "+", 1), 1);
        (void)close(more);
    }
    return n;
}

static int setup(void **state)
{
    grows = NULL;
    return setup_directory(state);
}

static void sees_a_file_of_the_same_size(void **state)
{
    struct box *box = *state;
    char before[AL_OID_TEXT], after[AL_OID_TEXT];

    tmpdir_write(box->dir, "ws/a", "one");
    snapshot_oid(box, "a", before);
    tmpdir_write(box->dir, "ws/a", "two");
    snapshot_oid(box, "a", after);
    assert_string_not_equal(before, after);
}

static void sees_a_mode_that_changes(void **state)
{
    struct box *box = *state;

    box_write(box, "a", "one");
    assert_snapshot(box, "100644 a");
    assert_int_equal(fchmodat(box->dir->fd, "ws/a", 0755, 0), 0);
    assert_snapshot(box, "100755 a");
}

static void sees_a_link_in_place_of_a_file(void **state)
{
    struct box *box = *state;

    box_write(box, "a", "one");
    assert_snapshot(box, "100644 a");
    assert_int_equal(unlinkat(box->dir->fd, "ws/a", 0), 0);
    tmpdir_symlink(box->dir, "one", "ws/a");
    assert_snapshot(box, "120000 a");
    assert_snapshot(box, "120000 a");
}

static void refuses_a_file_that_keeps_growing(void **state)
{
    struct box *box = *state;
    struct al_sandbox_files files;
    struct al_error err = AL_ERROR_INIT;

    tmpdir_write(box->dir, "ws/f", "begin");
    grows = box;
    assert_failed(al_sandbox_snapshot(box->sandbox, &files, &err), &err, AL_ERR_EXECUTION,
                  "'/workspace/f' changes while it is read");
    grows = NULL;
    assert_snapshot(box, "100644 f");
}

static void names_a_file_that_cannot_be_read(void **state)
{
    struct box *box = *state;
    struct al_sandbox_files files;
    struct al_error err = AL_ERROR_INIT;
    const uid_t own = geteuid();
    int r;

    tmpdir_write(box->dir, "ws/f", "begin");
    assert_int_equal(fchmodat(box->dir->fd, "ws/f", 0, 0), 0);
    assert_int_equal(seteuid(own ? own : NOBODY), 0); /* root reads everything */
    r = al_sandbox_snapshot(box->sandbox, &files, &err);
    assert_int_equal(seteuid(own), 0);
    assert_failed(r, &err, AL_ERR_EXECUTION, "'/workspace/f' cannot be used: Permission denied");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, box_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sees_a_file_of_the_same_size),     TEST(sees_a_mode_that_changes),
        TEST(sees_a_link_in_place_of_a_file),   TEST(refuses_a_file_that_keeps_growing),
        TEST(names_a_file_that_cannot_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
