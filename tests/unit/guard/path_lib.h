// SPDX-License-Identifier: Apache-2.0
/* Shared by the tests of paths: roots, and links of every kind around them. */
#ifndef TESTS_UNIT_GUARD_PATH_LIB_H
#define TESTS_UNIT_GUARD_PATH_LIB_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/path.h"
#include "guard/root.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

/*
 * world/repo       a root
 * world/other      a root as well
 * world/repo-evil  outside, and looks alike
 * world/secret     outside
 */
static struct tmpdir *world;
static struct al_roots roots;
static char *base; /* world/repo */

static inline void link_to(const char *in_world, const char *name)
{
    al_auto(al_freep) char *target = tmpdir_path(world, in_world);

    tmpdir_symlink(world, target, name);
}

static inline void make_links(void)
{
    tmpdir_symlink(world, "main.c", "repo/src/near");
    tmpdir_symlink(world, "../src/main.c", "repo/docs/up-and-down");
    tmpdir_symlink(world, "../../repo/src/main.c", "repo/docs/out-and-in");
    tmpdir_symlink(world, "src", "repo/dir-link");
    tmpdir_symlink(world, ".", "repo/self");
    link_to("repo/src/main.c", "repo/absolute");
    link_to("other/file", "repo/to-other");
    link_to("other", "repo/to-other-dir");
    link_to("repo", "way-in");
    tmpdir_symlink(world, "gone", "repo/dangling");
    link_to("repo/gone/far", "repo/dangling-absolute");
    link_to("way-in/gone", "repo/dangling-through-outside");

    tmpdir_symlink(world, "/etc/passwd", "repo/to-passwd");
    tmpdir_symlink(world, "../secret", "repo/to-secret");
    tmpdir_symlink(world, "..", "repo/to-parent");
    tmpdir_symlink(world, "to-parent", "repo/chain");
    tmpdir_symlink(world, "/", "repo/to-slash");
    link_to("repo-evil/file", "repo/to-evil");
    tmpdir_symlink(world, "loop-b", "repo/loop-a");
    tmpdir_symlink(world, "loop-a", "repo/loop-b");
    tmpdir_symlink(world, "/proc/self/cwd", "repo/magic-cwd");
    tmpdir_symlink(world, "/proc/self/root/etc", "repo/magic-root");
    link_to("gone", "repo/dangling-out");
    tmpdir_symlink(world, "../gone", "repo/dangling-up");
    tmpdir_symlink(world, "gone/../../secret", "repo/dangling-then-up");
    link_to("secret", "secret-link");
    link_to("secret-link", "repo/to-outside-link");
}

static inline int setup(void **state)
{
    al_auto(al_freep) char *other = NULL;

    (void)state;
    world = tmpdir_new();
    tmpdir_write(world, "repo/src/main.c", "int main;\n");
    tmpdir_mkdir(world, "repo/docs");
    tmpdir_write(world, "repo/..hidden/a..b", "x");
    tmpdir_write(world, "repo/gone (deleted)", "x");
    tmpdir_write(world, "other/file", "x");
    tmpdir_write(world, "repo-evil/file", "x");
    tmpdir_write(world, "secret", "x");
    make_links();
    roots = AL_ROOTS_INIT;
    base = tmpdir_path(world, "repo");
    other = tmpdir_path(world, "other");
    assert_int_equal(al_roots_add(&roots, base, NULL, NULL, NULL), 0);
    assert_int_equal(al_roots_add(&roots, other, NULL, NULL, NULL), 0);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    al_roots_clear(&roots);
    tmpdir_free(world);
    free(base);
    return 0;
}

/* Resolve, and check that the result is complete on success and untouched on failure. */
static inline int resolve(const char *given, struct al_path *path, struct al_error *err)
{
    int r = al_path_resolve(&roots, base, given, path, err);

    if (r < 0) {
        assert_int_equal(path->fd, -1);
        assert_null(path->abs);
    } else {
        assert_non_null(path->root);
        assert_int_equal(path->abs[strlen(path->root->path)],
                         al_path_rel(path)[0] == '.' && !al_path_rel(path)[1] ? '\0' : '/');
        assert_int_equal(path->fd >= 0, path->mode != 0);
    }
    return r;
}

/* Expect that `given` resolves to `wanted` (relative to the world), which exists or does not. */
static inline void leads_to(const char *given, const char *wanted, bool exists)
{
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    al_auto(al_freep) char *abs = tmpdir_path(world, wanted);
    struct stat by_fd, by_name;

    if (resolve(given, &path, NULL) != 0)
        fail_msg("refused: %s", given);
    assert_string_equal(path.abs, abs);
    assert_int_equal(path.fd >= 0, exists);
    if (!exists)
        return;
    assert_int_equal(fstat(path.fd, &by_fd), 0);
    assert_int_equal(lstat(abs, &by_name), 0);
    assert_int_equal(by_fd.st_ino, by_name.st_ino);
    assert_int_equal(path.mode, by_name.st_mode);
}

static inline void is_outside(const char *given)
{
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *message = al_asprintf("Path outside sandbox: %s", given);

    if (resolve(given, &path, &err) != AL_ERR_SANDBOX)
        fail_msg("not refused: %s", given);
    assert_string_equal(err.message, message);
}

#endif
