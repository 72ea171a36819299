// SPDX-License-Identifier: Apache-2.0
/* guard/nofollow.h: a path opens the file it names below the descriptor, and never follows a link.
 */
#include "guard/nofollow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static int setup(void **state)
{
    struct tmpdir *dir = tmpdir_new();

    tmpdir_write(dir, "src/deep/main.c", "int main;\n");
    tmpdir_symlink(dir, "main.c", "src/deep/link.c");
    tmpdir_symlink(dir, "src", "linked");
    tmpdir_symlink(dir, "/etc", "etc");
    *state = dir;
    return 0;
}

static int teardown(void **state)
{
    tmpdir_free(*state);
    return 0;
}

static int try_open(void **state, const char *path)
{
    const struct tmpdir *dir = *state;
    int fd = al_nofollow_open(dir->fd, path, O_RDONLY);

    al_close(fd);
    return fd < 0 ? fd : 0;
}

static int try_parent(void **state, const char *path, bool make)
{
    const struct tmpdir *dir = *state;
    const char *name;
    int fd = al_nofollow_open_parent(dir->fd, path, make, &name);

    al_close(fd);
    return fd < 0 ? fd : 0;
}

static void opens_what_is_there(void **state)
{
    assert_int_equal(try_open(state, ""), 0);
    assert_int_equal(try_open(state, "src"), 0);
    assert_int_equal(try_open(state, "src/deep/main.c"), 0);
    assert_int_equal(try_open(state, "src/none"), -ENOENT);
    assert_int_equal(try_open(state, "src/deep/main.c/none"), -ENOTDIR);
}

static void follows_no_link_and_leads_nowhere_else(void **state)
{
    static const struct {
        const char *path;
        int expected;
    } cases[] = {
        { "src/deep/link.c", -ELOOP },
        { "linked/deep/main.c", -ELOOP },
        { "etc/passwd", -ELOOP },
        { "/etc/passwd", -EXDEV },
        { "../x", -EXDEV },
        { "src/../../x", -EXDEV },
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(try_open(state, cases[i].path), cases[i].expected);
}

static void opens_the_directory_of_a_name(void **state)
{
    const struct tmpdir *dir = *state;
    const char *name;
    int fd = al_nofollow_open_parent(dir->fd, "src/deep/other.c", false, &name);
    struct stat st;

    assert_true(fd >= 0);
    assert_string_equal(name, "other.c");
    assert_int_equal(fstatat(fd, "main.c", &st, 0), 0);
    al_close(fd);
    assert_int_equal(try_parent(state, "top.c", false), 0);
    assert_int_equal(try_parent(state, "none/x/y", false), -ENOENT);
    assert_int_equal(try_parent(state, "none/x/y", true), 0);
    assert_int_equal(faccessat(dir->fd, "none/x", F_OK, 0), 0);
}

static void refuses_a_parent_that_is_a_link_or_above(void **state)
{
    static const struct {
        const char *path;
        int expected;
    } cases[] = {
        { "linked/x", -ELOOP }, { "etc/x", -ELOOP },    { "/etc/x", -EXDEV },
        { "../x", -EXDEV },     { "src/../x", -EXDEV }, { "", -EINVAL },
        { "src/", -EINVAL },    { "src/..", -EINVAL },  { ".", -EINVAL },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(try_parent(state, cases[i].path, false), cases[i].expected);
        assert_int_equal(try_parent(state, cases[i].path, true), cases[i].expected);
    }
}

static void removes_parents_while_they_are_empty(void **state)
{
    struct tmpdir *dir = *state;

    tmpdir_mkdir(dir, "a/b/c");
    tmpdir_write(dir, "a/keep", "");
    al_nofollow_remove_parents(dir->fd, "a/b/c/gone");
    assert_int_equal(faccessat(dir->fd, "a/b", F_OK, 0), -1);
    assert_int_equal(faccessat(dir->fd, "a/keep", F_OK, 0), 0);
    al_nofollow_remove_parents(dir->fd, "linked/deep/gone");
    assert_int_equal(faccessat(dir->fd, "src/deep/main.c", F_OK, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(opens_what_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(follows_no_link_and_leads_nowhere_else, setup, teardown),
        cmocka_unit_test_setup_teardown(opens_the_directory_of_a_name, setup, teardown),
        cmocka_unit_test_setup_teardown(refuses_a_parent_that_is_a_link_or_above, setup, teardown),
        cmocka_unit_test_setup_teardown(removes_parents_while_they_are_empty, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
