// SPDX-License-Identifier: Apache-2.0
/* base/fs.h: files are read without following or blocking, and written whole or not at all. */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static int setup(void **state)
{
    *state = tmpdir_new();
    return 0;
}

static int teardown(void **state)
{
    tmpdir_free(*state);
    return 0;
}

static void reads_up_to_the_limit_and_not_beyond(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    tmpdir_write(dir, "ten", "0123456789");
    assert_int_equal(al_fs_read(dir->fd, "ten", 11, &text), 0);
    assert_int_equal(al_fs_read(dir->fd, "ten", 10, &text), 0);
    assert_string_equal(text.buf, "0123456789");
    assert_int_equal(al_fs_read(dir->fd, "ten", 9, &text), -EFBIG);
}

static void refuses_links_fifos_and_directories(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    tmpdir_symlink(dir, "/etc/passwd", "link");
    assert_int_equal(mkfifoat(dir->fd, "fifo", 0600), 0);
    tmpdir_mkdir(dir, "folder");
    assert_int_equal(al_fs_read(dir->fd, "link", 1 << 20, &text), -ELOOP);
    assert_int_equal(al_fs_read(dir->fd, "fifo", 1 << 20, &text), -EINVAL);
    assert_int_equal(al_fs_read(dir->fd, "folder", 1 << 20, &text), -EINVAL);
    assert_int_equal(al_fs_read(dir->fd, "absent", 1 << 20, &text), -ENOENT);
}

static void writes_beside_and_renames(void **state)
{
    struct tmpdir *dir = *state;

    assert_int_equal(al_fs_write_atomic(dir->fd, "new", "one", 3, 0600, false), 0);
    assert_int_equal(al_fs_write_atomic(dir->fd, "new", "two", 3, 0600, false), -EEXIST);
    al_auto(al_freep) char *kept = tmpdir_read(dir, "new");
    assert_string_equal(kept, "one");
    assert_int_equal(al_fs_write_atomic(dir->fd, "new", "two", 3, 0600, true), 0);
    al_auto(al_freep) char *replaced = tmpdir_read(dir, "new");
    assert_string_equal(replaced, "two");
}

static void knows_a_file_that_was_replaced(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *path = tmpdir_path(dir, "id");
    struct al_file_id absent = al_file_id_at(AT_FDCWD, path), first, second;

    assert_false(absent.exists);
    assert_int_equal(al_fs_write_atomic(dir->fd, "id", "aaa", 3, 0600, true), 0);
    first = al_file_id_at(AT_FDCWD, path);
    assert_true(al_file_id_equal(&first, &first));
    assert_false(al_file_id_equal(&absent, &first));
    assert_int_equal(al_fs_write_atomic(dir->fd, "id", "bbb", 3, 0600, true), 0);
    second = al_file_id_at(AT_FDCWD, path);
    assert_false(al_file_id_equal(&first, &second));
}

static void says_what_lies_below_a_directory(void **state)
{
    static const struct {
        const char *dir, *path, *below;
    } cases[] = {
        { "/a/b", "/a/b", "" },       { "/a/b", "/a/b/c", "c" }, { "/a/b", "/a/b/c/d", "c/d" },
        { "/a/b", "/a/bc", NULL },    { "/a/b", "/a", NULL },    { "/a/b", "/a/c", NULL },
        { "/a/b", "/x/a/b/c", NULL }, { "/", "/a", "a" },        { "/", "/", "" },
        { "/", "/a/b", "a/b" },       { "/a", "/", NULL },
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(cases); i++) {
        const char *below = al_fs_beneath(cases[i].dir, cases[i].path);

        print_message("  %s in %s\n", cases[i].path, cases[i].dir);
        if (cases[i].below)
            assert_string_equal(below, cases[i].below);
        else
            assert_null(below);
    }
}

static void knows_temporary_names(void **state)
{
    static const struct {
        const char *name;
        pid_t owner;
    } cases[] = {
        { ".airlock-1-0", 1 },
        { ".airlock-4194304-17", 4194304 },
        { ".airlock-link-12-3", 0 },
        { ".airlock-12-n3", 0 },
        { ".airlock-2147483647-1", 2147483647 },
        { ".airlock-2147483648-1", 0 },
        { ".airlock-99999999999999999999-1", 0 },
        { ".airlock-0-1", 0 },
        { ".airlock--1", 0 },
        { ".airlock-1-", 0 },
        { ".airlock-1-n", 0 },
        { ".airlock-1", 0 },
        { ".airlock-1-2-3.patch", 0 },
        { ".airlock-lock-1a2b", 0 },
        { ".airlock-dir-1-2", 0 },
        { ".airlock-+1-2", 0 },
        { "airlock-1-2", 0 },
        { ".airlock-1-2.txt", 0 },
        { ".airlock", 0 },
        { "", 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("  %s\n", cases[i].name);
        assert_int_equal(al_fs_temp_owner(cases[i].name), cases[i].owner);
    }
}

/* A path to the deepest directory is longer than PATH_MAX. */
static void make_deep_tree(int at_fd, unsigned levels)
{
    int fd = dup(at_fd);

    for (unsigned i = 0; i < levels; i++) {
        int child;

        assert_int_equal(mkdirat(fd, "deep", 0700), 0);
        child = openat(fd, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(child >= 0);
        (void)close(fd);
        fd = child;
    }
    (void)close(fd);
}

static void removes_a_tree_of_any_depth(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *path = tmpdir_path(dir, "tree");
    struct stat st;

    tmpdir_mkdir(dir, "tree");
    al_auto(al_closep) int fd = openat(dir->fd, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    make_deep_tree(fd, 3000);
    tmpdir_write(dir, "tree/deep/deep/file", "text");
    al_fs_remove_tree(path);
    assert_int_equal(fstatat(dir->fd, "tree", &st, 0), -1);
}

static void removes_links_and_not_what_they_name(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *path = tmpdir_path(dir, "tree"), *outside = tmpdir_path(dir, "outside");
    al_auto(al_freep) char *top_link = tmpdir_path(dir, "link-to-outside");
    struct stat st;

    tmpdir_mkdir(dir, "outside");
    tmpdir_write(dir, "outside/kept", "text");
    tmpdir_mkdir(dir, "tree");
    tmpdir_mkdir(dir, "tree/below");
    tmpdir_symlink(dir, outside, "tree/below/link");
    tmpdir_symlink(dir, outside, "link-to-outside");
    al_fs_remove_tree(path);
    al_fs_remove_tree(top_link);
    assert_int_equal(fstatat(dir->fd, "tree", &st, 0), -1);
    assert_int_equal(fstatat(dir->fd, "link-to-outside", &st, AT_SYMLINK_NOFOLLOW), -1);
    assert_int_equal(fstatat(dir->fd, "outside/kept", &st, 0), 0);
}

static void removes_what_has_no_permissions(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *path = tmpdir_path(dir, "tree");
    struct stat st;

    tmpdir_mkdir(dir, "tree");
    tmpdir_mkdir(dir, "tree/closed");
    tmpdir_write(dir, "tree/closed/file", "text");
    tmpdir_mkdir(dir, "tree/fixed");
    tmpdir_write(dir, "tree/fixed/file", "text");
    assert_int_equal(fchmodat(dir->fd, "tree/closed", 0, 0), 0);
    assert_int_equal(fchmodat(dir->fd, "tree/fixed", 0500, 0), 0);
    al_fs_remove_tree(path);
    assert_int_equal(fstatat(dir->fd, "tree", &st, 0), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_up_to_the_limit_and_not_beyond),
        cmocka_unit_test(refuses_links_fifos_and_directories),
        cmocka_unit_test(writes_beside_and_renames),
        cmocka_unit_test(knows_a_file_that_was_replaced),
        cmocka_unit_test(says_what_lies_below_a_directory),
        cmocka_unit_test(knows_temporary_names),
        cmocka_unit_test(removes_a_tree_of_any_depth),
        cmocka_unit_test(removes_links_and_not_what_they_name),
        cmocka_unit_test(removes_what_has_no_permissions),
    };

    return cmocka_run_group_tests_name("util/fs", tests, setup, teardown);
}
