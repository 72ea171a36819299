// SPDX-License-Identifier: Apache-2.0
/* util/new_file.h: a file has its name when it is complete, also where the file system lacks what
 * that is best done with.  openat(2) and renameat2(2) are this file's own: see the wrapped
 * functions. */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static int tmpfile_error;   /* of O_TMPFILE; 0: it works */
static bool never_replaces; /* renameat2(2) knows no RENAME_NOREPLACE */

int __real_openat64(int dir_fd, const char *path, int flags, ...);
int __wrap_openat64(int dir_fd, const char *path, int flags, ...);
int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);

int __wrap_openat64(int dir_fd, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (tmpfile_error && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = tmpfile_error;
        return -1;
    }
    return __real_openat64(dir_fd, path, flags, mode);
}

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    if (never_replaces && flags) {
        errno = EINVAL;
        return -1;
    }
    return __real_renameat2(from_fd, from, to_fd, to, flags);
}

static int setup(void **state)
{
    tmpfile_error = 0;
    never_replaces = false;
    *state = tmpdir_new();
    tmpdir_mkdir(*state, "d");
    return 0;
}

static int setup_without_tmpfile(void **state)
{
    (void)setup(state);
    tmpfile_error = EOPNOTSUPP;
    return 0;
}

static int setup_without_noreplace(void **state)
{
    (void)setup(state);
    tmpfile_error = EISDIR;
    never_replaces = true;
    return 0;
}

static int teardown(void **state)
{
    tmpfile_error = 0;
    tmpdir_free(*state);
    return 0;
}

static struct al_new_file open_with(struct tmpdir *dir, const char *text, mode_t mode)
{
    struct al_new_file file;

    assert_int_equal(al_new_file_open(&file, dir->fd, mode), 0);
    assert_int_equal(al_write_all(file.fd, text, strlen(text)), 0);
    return file;
}

static void assert_file(const struct tmpdir *dir, const char *name, const char *expected)
{
    al_auto(al_freep) char *text = tmpdir_read(dir, name);

    if (expected)
        assert_string_equal(text, expected);
    else
        assert_null(text);
}

/* Names in the directory, beside ".", ".." and "d". */
static unsigned count_names(const struct tmpdir *dir)
{
    al_auto(al_closedirp) DIR *list = al_fs_list_at(dir->fd);
    unsigned count = 0;

    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));)
        count +=
            strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && strcmp(entry->d_name, "d");
    return count;
}

static void has_its_name_when_it_is_complete(void **state)
{
    struct tmpdir *dir = *state;
    struct al_new_file file = open_with(dir, "te", 0600);

    assert_file(dir, "f", NULL);
    assert_int_equal(al_write_all(file.fd, "xt", 2), 0);
    assert_int_equal(al_new_file_name(&file, dir->fd, "f", false), 0);
    assert_int_equal(file.fd, -1);
    assert_file(dir, "f", "text");
    assert_int_equal(count_names(dir), 1);
    al_new_file_clear(&file);
    assert_int_equal(count_names(dir), 1);
}

static void leaves_nothing_when_it_is_dropped(void **state)
{
    struct tmpdir *dir = *state;
    struct al_new_file file = open_with(dir, "text", 0600), none = AL_NEW_FILE_INIT;

    al_new_file_clear(&file);
    al_new_file_clear(&file);
    al_new_file_clear(&none);
    assert_int_equal(count_names(dir), 0);
}

static void replaces_only_when_it_is_asked_to(void **state)
{
    struct tmpdir *dir = *state;
    struct al_new_file file = open_with(dir, "new", 0600), other = open_with(dir, "newer", 0600);

    tmpdir_write(dir, "f", "old");
    tmpdir_write(dir, "victim", "precious");
    tmpdir_symlink(dir, "victim", "l");
    assert_int_equal(al_new_file_name(&file, dir->fd, "f", false), -EEXIST);
    assert_int_equal(al_new_file_name(&file, dir->fd, "l", false), -EEXIST);
    assert_int_equal(al_new_file_name(&file, dir->fd, "d", false), -EEXIST);
    assert_int_equal(al_new_file_name(&file, dir->fd, "d", true), -EISDIR);
    assert_file(dir, "f", "old");
    assert_int_equal(al_new_file_name(&file, dir->fd, "f", true), 0);
    assert_int_equal(al_new_file_name(&other, dir->fd, "l", true), 0);
    assert_file(dir, "f", "new");
    assert_file(dir, "l", "newer");
    assert_file(dir, "victim", "precious");
    assert_int_equal(count_names(dir), 3);
}

static void goes_into_another_directory(void **state)
{
    struct tmpdir *dir = *state;
    struct al_new_file file = open_with(dir, "text", 0600);
    int other = openat(dir->fd, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(al_new_file_name(&file, other, "f", false), 0);
    assert_file(dir, "d/f", "text");
    assert_int_equal(count_names(dir), 0);
    assert_int_equal(unlinkat(dir->fd, "d/f", 0), 0);
    assert_int_equal(unlinkat(dir->fd, "d", AT_REMOVEDIR), 0);
    file = open_with(dir, "text", 0600);
    assert_int_equal(al_new_file_name(&file, other, "f", false), -ENOENT);
    assert_int_equal(al_new_file_name(&file, other, "f", true), -ENOENT);
    assert_int_equal(al_new_file_name(&file, dir->fd, "f", false), 0);
    assert_file(dir, "f", "text");
    (void)close(other);
}

static void has_the_permissions_that_the_umask_leaves(void **state)
{
    static const mode_t modes[] = { 0666, 0777, 0600 };
    struct tmpdir *dir = *state;
    mode_t before = umask(027);

    for (size_t i = 0; i < COUNT(modes); i++) {
        struct al_new_file file = open_with(dir, "", modes[i]);
        struct stat st;

        assert_int_equal(al_new_file_name(&file, dir->fd, "f", true), 0);
        assert_int_equal(fstatat(dir->fd, "f", &st, 0), 0);
        assert_int_equal(st.st_mode & 07777, modes[i] & ~027u);
    }
    (void)umask(before);
}

static void reports_a_directory_that_cannot_be_used(void **state)
{
    struct tmpdir *dir = *state;
    struct al_new_file file;
    int gone = openat(dir->fd, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(unlinkat(dir->fd, "d", AT_REMOVEDIR), 0);
    if (al_new_file_open(&file, gone, 0600) == 0) /* O_TMPFILE needs no directory for a name */
        assert_int_equal(al_new_file_name(&file, gone, "f", false), -ENOENT);
    al_new_file_clear(&file);
    (void)close(gone);
}

#define TEST_IN(test, how, begin)                                                                  \
    {                                                                                              \
#test " " how, test, begin, teardown, NULL                                                 \
    }
#define TEST(test)                                                                                 \
    TEST_IN(test, "with O_TMPFILE", setup),                                                        \
        TEST_IN(test, "with a temporary name", setup_without_tmpfile),                             \
        TEST_IN(test, "without RENAME_NOREPLACE", setup_without_noreplace)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(has_its_name_when_it_is_complete),
        TEST(leaves_nothing_when_it_is_dropped),
        TEST(replaces_only_when_it_is_asked_to),
        TEST(goes_into_another_directory),
        TEST(has_the_permissions_that_the_umask_leaves),
        TEST_IN(reports_a_directory_that_cannot_be_used, "with O_TMPFILE", setup),
        TEST_IN(reports_a_directory_that_cannot_be_used, "with a temporary name",
                setup_without_tmpfile),
    };

    return cmocka_run_group_tests_name("util/new_file", tests, NULL, NULL);
}
