// SPDX-License-Identifier: Apache-2.0
/* guard/root.h: directories are created below a root, never through a link and never in `.git`. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/path.h"
#include "guard/root.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static struct tmpdir *world;
static struct al_roots roots;
static char *base; /* world/repo, the root */

static int setup(void **state)
{
    (void)state;
    world = tmpdir_new();
    tmpdir_write(world, "repo/src/main.c", "int main;\n");
    tmpdir_mkdir(world, "repo-evil");
    tmpdir_symlink(world, "src", "repo/dir-link");
    tmpdir_symlink(world, "gone", "repo/dangling");
    roots = AL_ROOTS_INIT;
    base = tmpdir_path(world, "repo");
    assert_int_equal(al_roots_add(&roots, base, NULL, NULL, NULL), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    al_roots_clear(&roots);
    tmpdir_free(world);
    free(base);
    return 0;
}

static int make(const char *given, struct al_error *err)
{
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    int r;

    assert_int_equal(al_path_resolve(&roots, base, given, &path, NULL), 0);
    r = al_path_mkdirs(&path, given, err);
    if (r == 0) {
        assert_true(path.fd >= 0);
        assert_true(S_ISDIR(path.mode));
    }
    return r;
}

static void directories_are_made_for_the_person_and_group_alone(void **state)
{
    mode_t mask = umask(022);
    struct stat st;

    (void)state;
    assert_int_equal(make("out/a/b", NULL), 0);
    assert_int_equal(make("out/a/b", NULL), 0);
    assert_int_equal(make(".", NULL), 0);
    assert_int_equal(make("dir-link/made", NULL), 0);
    assert_int_equal(make("dangling/below", NULL), 0);
    (void)umask(mask);
    assert_int_equal(fstatat(world->fd, "repo/out/a", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(st.st_mode, S_IFDIR | 0750);
    assert_int_equal(fstatat(world->fd, "repo/src/made", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(fstatat(world->fd, "repo/gone/below", &st, AT_SYMLINK_NOFOLLOW), 0);
}

static void no_directory_is_made_in_a_git_directory_or_a_file(void **state)
{
    static const char *const guarded[] = { ".git", ".git/x", "out/.GIT/x", "a/git~1", ".git /x" };
    struct stat st;

    (void)state;
    for (size_t i = 0; i < COUNT(guarded); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_freep) char *message = al_asprintf("Protected path: %s", guarded[i]);

        assert_int_equal(make(guarded[i], &err), AL_ERR_SANDBOX);
        assert_int_equal(err.code, AL_CODE_PROTECTED_PATH);
        assert_string_equal(err.message, message);
        assert_int_equal(fstatat(world->fd, "repo/.git", &st, AT_SYMLINK_NOFOLLOW), -1);
    }
    tmpdir_symlink(world, ".git", "repo/alias"); /* `.git` in the resolved path */
    assert_int_equal(make("alias/x", NULL), AL_ERR_SANDBOX);
    tmpdir_symlink(world, "src", "repo/.git"); /* `.git` in the given path */
    assert_int_equal(make(".git/x", NULL), AL_ERR_SANDBOX);
    assert_int_equal(unlinkat(world->fd, "repo/.git", 0), 0);
    assert_int_equal(make("src/main.c", NULL), AL_ERR_EXECUTION);
    assert_int_equal(make("src/main.c/x", NULL), AL_ERR_EXECUTION);
}

static void no_git_directory_is_entered_or_completed(void **state)
{
    static const char *const guarded[] = { "hub",        "hub/hooks",    "hub/hooks/a/b",
                                           "parts/refs", "parts/refs/x", "parts/refs/heads/x" };
    static const char *const good[] = { "hub/tree", "hub/tree/out/a", "parts/ref", "parts",
                                        "parts/objects/x" };
    struct stat st;

    (void)state;
    tmpdir_write(world, "repo/hub/HEAD", "");
    tmpdir_write(world, "repo/hub/objects/x", "");
    tmpdir_write(world, "repo/hub/refs/x", "");
    tmpdir_write(world, "repo/hub/tree/.git", "");
    tmpdir_write(world, "repo/parts/HEAD", "");
    tmpdir_write(world, "repo/parts/objects/y", "");
    for (size_t i = 0; i < COUNT(guarded); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(make(guarded[i], &err), AL_ERR_SANDBOX);
        assert_int_equal(err.code, AL_CODE_PROTECTED_PATH);
    }
    assert_int_equal(fstatat(world->fd, "repo/hub/hooks", &st, 0), -1);
    assert_int_equal(fstatat(world->fd, "repo/parts/refs", &st, 0), -1);
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(make(good[i], NULL), 0);
}

static void a_link_that_appears_meanwhile_is_not_followed(void **state)
{
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    struct stat st;

    (void)state;
    assert_int_equal(al_path_resolve(&roots, base, "late/dir", &path, NULL), 0);
    tmpdir_symlink(world, "../repo-evil", "repo/late");
    assert_int_equal(al_path_mkdirs(&path, "late/dir", NULL), AL_ERR_SANDBOX);
    assert_int_equal(fstatat(world->fd, "repo-evil/dir", &st, AT_SYMLINK_NOFOLLOW), -1);
    al_path_clear(&path);
    assert_int_equal(al_path_resolve(&roots, base, "later/dir", &path, NULL), 0);
    tmpdir_symlink(world, "src", "repo/later"); /* inside, but elsewhere than the path says */
    assert_int_equal(al_path_mkdirs(&path, "later/dir", NULL), AL_ERR_SANDBOX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(directories_are_made_for_the_person_and_group_alone),
        cmocka_unit_test(no_directory_is_made_in_a_git_directory_or_a_file),
        cmocka_unit_test(no_git_directory_is_entered_or_completed),
        cmocka_unit_test(a_link_that_appears_meanwhile_is_not_followed),
    };

    return cmocka_run_group_tests_name("guard/mkdirs", tests, setup, teardown);
}
