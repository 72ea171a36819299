// SPDX-License-Identifier: Apache-2.0
/* guard/redirect.h: redirects stay below the root, follow no links, and never reach `.git`. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/redirect.h"
#include "guard/root.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static struct al_root root_of(const struct tmpdir *dir)
{
    return (struct al_root){ .path = dir->path, .fd = dir->fd };
}

static void checks_words(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    const struct al_root root = root_of(dir);
    al_auto(al_freep) char *inside = al_asprintf("%s/x", dir->path);
    al_auto(al_freep) char *beside = al_asprintf("%sx/y", dir->path);
    const char *const good[] = { "a", "d/a", "./a", "a..b", "..a", "/dev/null", inside };
    const char *const bad[] = { "..",          "../a",     "a/..",        "a/../b", "/",
                                "/etc/passwd", "/dev/nul", "/dev/null/x", beside,   dir->path };
    const char *const git[] = { ".git", ".git/x", ".GIT/x", "a/.Git/x", "git~1/x", ".git./x" };

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(al_redirect_check(&root, good[i], NULL), 0);
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(al_redirect_check(&root, bad[i], NULL), AL_ERR_SANDBOX);
    for (size_t i = 0; i < COUNT(git); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(al_redirect_check(&root, git[i], &err), AL_ERR_SANDBOX);
        assert_int_equal(err.code, AL_CODE_PROTECTED_PATH);
    }
    assert_int_equal(al_redirect_check(&root, "", NULL), AL_ERR_BAD_ARGS);
    tmpdir_free(dir);
}

/* Check and open at once. */
static int open_redirect(const struct al_root *root, const char *name, enum al_redirect_mode mode,
                         int *ret_fd, struct al_error *err)
{
    al_auto(al_redirect_clear) struct al_redirect redirect = AL_REDIRECT_INIT;
    int r = al_redirect_find(root, name, &redirect, err);

    return r < 0 ? r : al_redirect_open(&redirect, mode, ret_fd, err);
}

static void put(const struct al_root *root, const char *name, enum al_redirect_mode mode)
{
    int fd = -1;

    assert_int_equal(open_redirect(root, name, mode, &fd, NULL), 0);
    assert_int_equal(write(fd, "new", 3), 3);
    close(fd);
}

static void writes_and_appends(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    const struct al_root root = root_of(dir);
    al_auto(al_freep) char *absolute = al_asprintf("%s/c", dir->path);
    al_auto(al_freep) char *a = NULL;
    al_auto(al_freep) char *b = NULL;
    al_auto(al_freep) char *c = NULL;

    (void)state;
    tmpdir_write(dir, "a", "old and longer");
    tmpdir_write(dir, "b", "old");
    put(&root, "a", AL_REDIRECT_WRITE);
    put(&root, "b", AL_REDIRECT_APPEND);
    put(&root, absolute, AL_REDIRECT_WRITE);
    put(&root, "/dev/null", AL_REDIRECT_WRITE);
    a = tmpdir_read(dir, "a");
    b = tmpdir_read(dir, "b");
    c = tmpdir_read(dir, "c");
    assert_string_equal(a, "new");
    assert_string_equal(b, "oldnew");
    assert_string_equal(c, "new");
    tmpdir_free(dir);
}

static void follows_no_link(void **state)
{
    static const char *const names[] = { "link", "linkdir/f", "dangling", "up", "loop" };
    struct tmpdir *dir = tmpdir_new(), *outside = tmpdir_new();
    const struct al_root root = root_of(dir);
    al_auto(al_freep) char *secret = tmpdir_path(outside, "secret");
    al_auto(al_freep) char *kept = NULL;

    (void)state;
    tmpdir_write(outside, "secret", "kept");
    tmpdir_write(dir, "d/f", "kept");
    tmpdir_symlink(dir, secret, "link");
    tmpdir_symlink(dir, "d", "linkdir");
    tmpdir_symlink(dir, "nothing", "dangling");
    tmpdir_symlink(dir, "../x", "up");
    tmpdir_symlink(dir, "loop", "loop");
    for (size_t i = 0; i < COUNT(names); i++) {
        for (int mode = AL_REDIRECT_READ; mode <= AL_REDIRECT_APPEND; mode++) {
            int fd = -1;

            assert_int_equal(open_redirect(&root, names[i], (enum al_redirect_mode)mode, &fd, NULL),
                             AL_ERR_SANDBOX);
            assert_int_equal(fd, -1);
        }
    }
    kept = tmpdir_read(outside, "secret");
    assert_string_equal(kept, "kept");
    tmpdir_free(dir);
    tmpdir_free(outside);
}

static void goes_into_no_git_directory(void **state)
{
    static const char *const guarded[] = { "meta/config",  "meta/new",
                                           "meta/hooks/x", "meta/worktrees/w/config.worktree",
                                           "parts/HEAD",   "parts/head" };
    static const char *const good[] = { "parts/config", "parts/HEADS", "HEAD", "tree/config" };
    struct tmpdir *dir = tmpdir_new();
    const struct al_root root = root_of(dir);

    (void)state;
    tmpdir_write(dir, "meta/HEAD", "");
    tmpdir_write(dir, "meta/objects/x", "");
    tmpdir_write(dir, "meta/refs/x", "");
    tmpdir_write(dir, "meta/hooks/y", "");
    tmpdir_write(dir, "meta/worktrees/w/HEAD", "");
    tmpdir_write(dir, "parts/objects/x", "");
    tmpdir_write(dir, "parts/refs/x", "");
    tmpdir_mkdir(dir, "tree");
    for (int mode = AL_REDIRECT_READ; mode <= AL_REDIRECT_APPEND; mode++) {
        for (size_t i = 0; i < COUNT(guarded); i++) {
            al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
            int fd = -1;

            assert_int_equal(
                open_redirect(&root, guarded[i], (enum al_redirect_mode)mode, &fd, &err),
                AL_ERR_SANDBOX);
            assert_int_equal(err.code, AL_CODE_PROTECTED_PATH);
        }
    }
    for (size_t i = 0; i < COUNT(good); i++)
        put(&root, good[i], AL_REDIRECT_APPEND);
    tmpdir_free(dir);
}

/* The checked file is the one that is opened, wherever its name leads by then. */
static void stays_where_it_was_checked(void **state)
{
    struct tmpdir *dir = tmpdir_new(), *outside = tmpdir_new();
    const struct al_root root = root_of(dir);
    al_auto(al_redirect_clear) struct al_redirect redirect = AL_REDIRECT_INIT;
    al_auto(al_freep) char *got = NULL;
    struct stat st;
    int fd = -1;

    (void)state;
    tmpdir_mkdir(dir, "d");
    assert_int_equal(al_redirect_find(&root, "d/f", &redirect, NULL), 0);
    assert_int_equal(fstatat(dir->fd, "d/f", &st, 0), -1); /* nothing is created yet */
    assert_int_equal(renameat(dir->fd, "d", dir->fd, "moved"), 0);
    tmpdir_symlink(dir, outside->path, "d");
    assert_int_equal(al_redirect_open(&redirect, AL_REDIRECT_WRITE, &fd, NULL), 0);
    assert_int_equal(write(fd, "new", 3), 3);
    close(fd);
    got = tmpdir_read(dir, "moved/f");
    assert_string_equal(got, "new");
    assert_int_equal(fstatat(outside->fd, "f", &st, 0), -1);
    /* A redirect is refused if it has become a link, or its directory a git directory. */
    assert_int_equal(unlinkat(dir->fd, "moved/f", 0), 0);
    tmpdir_symlink(dir, "../x", "moved/f");
    assert_int_equal(al_redirect_open(&redirect, AL_REDIRECT_WRITE, &fd, NULL), AL_ERR_SANDBOX);
    assert_int_equal(unlinkat(dir->fd, "moved/f", 0), 0);
    tmpdir_write(dir, "moved/HEAD", "");
    tmpdir_write(dir, "moved/commondir", "");
    assert_int_equal(al_redirect_open(&redirect, AL_REDIRECT_WRITE, &fd, NULL), AL_ERR_SANDBOX);
    tmpdir_free(dir);
    tmpdir_free(outside);
}

static void waits_for_nobody(void **state)
{
    static const char *const names[] = { "fifo", "d", "none/f" };
    struct tmpdir *dir = tmpdir_new();
    const struct al_root root = root_of(dir);

    (void)state;
    tmpdir_mkdir(dir, "d");
    assert_int_equal(mkfifoat(dir->fd, "fifo", 0600), 0);
    for (size_t i = 0; i < COUNT(names); i++) {
        for (int mode = AL_REDIRECT_READ; mode <= AL_REDIRECT_APPEND; mode++) {
            int fd = -1;

            assert_int_equal(open_redirect(&root, names[i], (enum al_redirect_mode)mode, &fd, NULL),
                             AL_ERR_EXECUTION);
        }
    }
    tmpdir_free(dir);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_words),
        cmocka_unit_test(writes_and_appends),
        cmocka_unit_test(follows_no_link),
        cmocka_unit_test(goes_into_no_git_directory),
        cmocka_unit_test(stays_where_it_was_checked),
        cmocka_unit_test(waits_for_nobody),
    };

    return cmocka_run_group_tests_name("guard/redirect", tests, NULL, NULL);
}
