// SPDX-License-Identifier: Apache-2.0
/* history/rollback_atomic_file.h: files are written below a directory, whatever is there, and
 * nowhere else.
 */
#include "history/rollback_atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"
#include "util/fs.h"

/* A directory with `in`, where files may be written, and `out`, where they may not. */
static int setup(void **state)
{
    struct tmpdir *dir = tmpdir_new();

    (void)mkdirat(dir->fd, "in", 0700);
    tmpdir_write(dir, "out/kept", "a user's");
    *state = dir;
    return 0;
}

static int teardown(void **state)
{
    tmpdir_free(*state);
    return 0;
}

#define PLACE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static int put(const struct tmpdir *dir, const char *path, unsigned mode, const char *text)
{
    al_auto(al_closep) int fd = openat(dir->fd, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct al_atomic_dir place = { fd, "in", ".temp" };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r = al_atomic_file_write(&place, path, mode, text, strlen(text), &err);

    assert_true((r < 0) == (err.message != NULL));
    assert_int_equal(faccessat(fd, ".temp", F_OK, AT_SYMLINK_NOFOLLOW), -1);
    return r;
}

static int take_away(const struct tmpdir *dir, const char *path)
{
    al_auto(al_closep) int fd = openat(dir->fd, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct al_atomic_dir place = { fd, "in", ".temp" };

    return al_atomic_file_remove(&place, path, NULL);
}

static void assert_file(const struct tmpdir *dir, const char *path, const char *text)
{
    al_auto(al_freep) char *found = tmpdir_read(dir, path);

    assert_non_null(found);
    assert_string_equal(found, text);
}

static bool is_there(const struct tmpdir *dir, const char *path)
{
    return faccessat(dir->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void writes_files_with_their_permissions(void **state)
{
    static const unsigned modes[] = { 0600, 0644, 0755, 0400, 0777 };
    const struct tmpdir *dir = *state;
    struct stat st;

    for (size_t i = 0; i < COUNT(modes); i++) {
        assert_int_equal(put(dir, "a/b/c", S_IFREG | modes[i], "text"), 0);
        assert_int_equal(fstatat(dir->fd, "in/a/b/c", &st, 0), 0);
        assert_int_equal(st.st_mode, S_IFREG | modes[i]);
    }
    assert_int_equal(put(dir, "a/b/c", S_IFREG | 06755u, ""), 0);
    assert_int_equal(fstatat(dir->fd, "in/a/b/c", &st, 0), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0755u); /* set-id bits are never restored */
}

static void writes_links_and_replaces_them(void **state)
{
    const struct tmpdir *dir = *state;
    char target[64] = "";

    assert_int_equal(put(dir, "link", S_IFLNK | 0777u, "../out/kept"), 0);
    assert_true(readlinkat(dir->fd, "in/link", target, sizeof(target) - 1) > 0);
    assert_string_equal(target, "../out/kept");
    assert_int_equal(put(dir, "link", S_IFREG | 0644u, "a file"), 0);
    assert_file(dir, "in/link", "a file");
    assert_file(dir, "out/kept", "a user's");
}

static void goes_through_no_link(void **state)
{
    const struct tmpdir *dir = *state;

    assert_int_equal(symlinkat("../out", dir->fd, "in/dir"), 0);
    assert_true(put(dir, "dir/kept", S_IFREG | 0644u, "evil") < 0);
    assert_true(put(dir, "dir/new", S_IFREG | 0644u, "evil") < 0);
    assert_true(put(dir, "dir/sub/new", S_IFREG | 0644u, "evil") < 0);
    assert_true(take_away(dir, "dir/kept") < 0);
    assert_file(dir, "out/kept", "a user's");
    assert_false(is_there(dir, "out/new"));
    assert_false(is_there(dir, "out/sub"));
    assert_int_equal(take_away(dir, "dir"), 0); /* the link itself is removed like a file */
    assert_false(is_there(dir, "in/dir"));
    assert_true(is_there(dir, "out/kept"));
}

static void takes_plain_paths_only(void **state)
{
    static const char *const bad[] = { "",       ".",    "..",    "../out/x", "a/../../out/x",
                                       "/etc/x", "a//b", "a/./b", "a/b/",     "a/..",
                                       "./a" };
    static const char *const good[] = { "a", "a/b", "...", ".a/..b", " ", "\n" };
    const struct tmpdir *dir = *state;

    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_false(al_atomic_file_is_plain(bad[i]));
        assert_true(put(dir, bad[i], S_IFREG | 0644u, "x") < 0);
        assert_true(take_away(dir, bad[i]) < 0);
    }
    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(al_atomic_file_is_plain(good[i]));
    assert_false(is_there(dir, "out/x"));
}

static void makes_way_for_a_file_only_where_nothing_is_lost(void **state)
{
    struct tmpdir *dir = *state;

    assert_int_equal(mkdirat(dir->fd, "in/empty", 0700), 0);
    assert_int_equal(put(dir, "empty", S_IFREG | 0644u, "text"), 0);
    assert_file(dir, "in/empty", "text");
    tmpdir_write(dir, "in/full/file", "kept");
    assert_true(put(dir, "full", S_IFREG | 0644u, "text") < 0);
    assert_file(dir, "in/full/file", "kept");
    assert_true(put(dir, "full/file/x", S_IFREG | 0644u, "text") < 0);
    assert_file(dir, "in/full/file", "kept");
}

static void removes_a_file_and_directories_that_are_empty(void **state)
{
    struct tmpdir *dir = *state;

    tmpdir_write(dir, "in/a/b/c/file", "x");
    tmpdir_write(dir, "in/a/kept", "x");
    assert_int_equal(take_away(dir, "a/b/c/file"), 0);
    assert_false(is_there(dir, "in/a/b"));
    assert_true(is_there(dir, "in/a/kept"));
    assert_int_equal(take_away(dir, "a/b/c/file"), 0); /* removing it again is no error */
    assert_int_equal(take_away(dir, "a/kept/x"), 0);
    assert_int_equal(take_away(dir, "a/kept"), 0);
    assert_true(is_there(dir, "in"));
}

static void holds_links_to_the_length_they_may_have(void **state)
{
    const struct tmpdir *dir = *state;

    for (size_t len = 4095; len <= 4097; len++) {
        al_auto(al_freep) char *target = al_calloc(len + 1, 1);

        memset(target, 'a', len);
        assert_int_equal(put(dir, "link", S_IFLNK | 0777u, target) < 0, len > 4095);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        PLACE_TEST(writes_files_with_their_permissions),
        PLACE_TEST(writes_links_and_replaces_them),
        PLACE_TEST(goes_through_no_link),
        PLACE_TEST(takes_plain_paths_only),
        PLACE_TEST(makes_way_for_a_file_only_where_nothing_is_lost),
        PLACE_TEST(removes_a_file_and_directories_that_are_empty),
        PLACE_TEST(holds_links_to_the_length_they_may_have),
    };

    return cmocka_run_group_tests_name("rollback/atomic_file", tests, NULL, NULL);
}
