// SPDX-License-Identifier: Apache-2.0
/* guard/root.h: no path an agent or a repository names leads outside the roots. */
#include "guard/root.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"
#include "util/fs.h"

/*
 * world/repo       a root
 * world/other      a root as well
 * world/repo-evil  outside, and looks alike
 * world/secret     outside
 */
static struct tmpdir *world;
static struct al_roots roots;
static char *base; /* world/repo */

static void link_to(const char *in_world, const char *name)
{
    al_auto(al_freep) char *target = tmpdir_path(world, in_world);

    tmpdir_symlink(world, target, name);
}

static void make_links(void)
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

static int setup(void **state)
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

static int teardown(void **state)
{
    (void)state;
    al_roots_clear(&roots);
    tmpdir_free(world);
    free(base);
    return 0;
}

/* Resolve and check what holds for every answer: all of it, or nothing. */
static int resolve(const char *given, struct al_path *path, struct al_error *err)
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

/* `given` resolves to `wanted` (relative to the world), which exists or does not. */
static void leads_to(const char *given, const char *wanted, bool exists)
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

static void is_outside(const char *given)
{
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *message = al_asprintf("Path outside sandbox: %s", given);

    if (resolve(given, &path, &err) != AL_ERR_SANDBOX)
        fail_msg("not refused: %s", given);
    assert_string_equal(err.message, message);
}

static void what_lies_inside_is_opened(void **state)
{
    (void)state;
    leads_to("src/main.c", "repo/src/main.c", true);
    leads_to(".", "repo", true);
    leads_to("./", "repo", true);
    leads_to("./src//./main.c", "repo/src/main.c", true);
    leads_to("src/", "repo/src", true);
    leads_to("src///", "repo/src", true);
    leads_to("..hidden/a..b", "repo/..hidden/a..b", true);
    leads_to("gone (deleted)", "repo/gone (deleted)", true);
}

static void absolute_paths_are_measured_by_where_they_lead(void **state)
{
    static const char *const given[] = { "repo", "repo/", "repo//src/.", "other/file",
                                         "way-in/src" };
    static const char *const wanted[] = { "repo", "repo", "repo/src", "other/file", "repo/src" };

    (void)state;
    for (size_t i = 0; i < COUNT(given); i++) {
        al_auto(al_freep) char *path = tmpdir_path(world, given[i]);

        leads_to(path, wanted[i], true);
    }
}

static void links_that_end_inside_a_root_are_followed(void **state)
{
    (void)state;
    leads_to("src/near", "repo/src/main.c", true);
    leads_to("docs/up-and-down", "repo/src/main.c", true);
    leads_to("docs/out-and-in", "repo/src/main.c", true);
    leads_to("dir-link/main.c", "repo/src/main.c", true);
    leads_to("self/self/src", "repo/src", true);
    leads_to("absolute", "repo/src/main.c", true);
    leads_to("to-other", "other/file", true);
    leads_to("to-other-dir/file", "other/file", true);
}

static void what_is_missing_is_placed(void **state)
{
    al_auto(al_freep) char *through = tmpdir_path(world, "way-in/gone/far");

    (void)state;
    leads_to("gone", "repo/gone", false);
    leads_to("gone/far/away", "repo/gone/far/away", false);
    leads_to("src/main.c/below-a-file", "repo/src/main.c/below-a-file", false);
    leads_to("dir-link/gone", "repo/src/gone", false);
    leads_to("to-other-dir/gone", "other/gone", false);
    leads_to("dangling", "repo/gone", false);
    leads_to("dangling/below", "repo/gone/below", false);
    leads_to("dangling-absolute", "repo/gone/far", false);
    leads_to("dangling-through-outside", "repo/gone", false);
    leads_to(through, "repo/gone/far", false);
}

static void what_lies_or_leads_outside_is_refused(void **state)
{
    static const char *const escapes[] = {
        "..",
        "../repo",
        "src/..",
        "src/../src/main.c",
        "./..",
        "src/../../secret",
        "gone/../src",
        "/",
        "//",
        "/etc/passwd",
        "/etc/gone",
        "/gone",
        "/proc/self/cwd",
        "/proc/self/fd/0",
        "to-passwd",
        "to-secret",
        "to-parent",
        "to-parent/secret",
        "to-parent/gone",
        "chain",
        "chain/secret",
        "to-slash",
        "to-slash/etc/passwd",
        "to-evil",
        "loop-a",
        "loop-a/x",
        "magic-cwd",
        "magic-root",
        "magic-root/passwd",
        "dangling-out",
        "dangling-out/x",
        "dangling-up",
        "dangling-then-up",
        "to-outside-link",
    };
    static const char *const in_world[] = {
        "",        "secret",       "repo-evil", "repo-evil/file", "rep",           "repo-evil/gone",
        "repo/..", "repo/../repo", "gone",      "secret-link",    "repo/to-secret"
    };

    (void)state;
    for (size_t i = 0; i < COUNT(escapes); i++)
        is_outside(escapes[i]);
    for (size_t i = 0; i < COUNT(in_world); i++) {
        al_auto(al_freep) char *path = tmpdir_path(world, in_world[i]);

        is_outside(path);
    }
}

static void a_magic_link_is_refused_even_when_it_leads_inside(void **state)
{
    al_auto(al_freep) char *magic = al_asprintf("/proc/self/fd/%d", roots.items[0].fd);
    al_auto(al_freep) char *through = al_asprintf("%s/src", magic);

    (void)state;
    assert_int_equal(access(through, F_OK), 0);
    is_outside(magic);
    is_outside(through);
}

static void a_refusal_is_safe_for_a_terminal(void **state)
{
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    (void)state;
    assert_int_equal(resolve("../\033[31m\n\xe2\x80\xae", &path, &err), AL_ERR_SANDBOX);
    assert_string_equal(err.message, "Path outside sandbox: ../ <U+202E>");
}

static void absolute_paths_can_be_switched_off(void **state)
{
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;

    (void)state;
    roots.allow_absolute = false;
    is_outside(base);
    assert_int_equal(resolve("src", &path, NULL), 0);
    roots.allow_absolute = true;
    assert_int_equal(resolve(base, &path, NULL), 0);
}

static char *of_length(size_t len)
{
    char *path = al_malloc(len + 1);

    for (size_t i = 0; i < len; i++)
        path[i] = i % 2 ? '/' : '.';
    path[len] = '\0';
    return path;
}

static void a_path_has_1_to_4095_bytes(void **state)
{
    static const struct {
        size_t len;
        int status;
    } cases[] = { { 0, AL_ERR_BAD_ARGS },        { 1, 0 },
                  { PATH_MAX - 2, 0 },           { PATH_MAX - 1, 0 },
                  { PATH_MAX, AL_ERR_BAD_ARGS }, { PATH_MAX + 1, AL_ERR_BAD_ARGS } };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
        al_auto(al_freep) char *given = of_length(cases[i].len);

        assert_int_equal(resolve(given, &path, NULL), cases[i].status);
    }
}

static void a_component_has_255_bytes_at_most(void **state)
{
    static const int statuses[] = { 0, 0, AL_ERR_BAD_ARGS };

    (void)state;
    for (size_t len = NAME_MAX - 1; len <= NAME_MAX + 1; len++) {
        al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
        al_auto(al_freep) char *given = al_calloc(len + 1, 1);

        memset(given, 'a', len);
        assert_int_equal(resolve(given, &path, NULL), statuses[len - (NAME_MAX - 1)]);
    }
}

static void a_missing_path_has_4095_bytes_with_its_root(void **state)
{
    static const int statuses[] = { 0, 0, AL_ERR_BAD_ARGS };

    (void)state;
    for (size_t len = PATH_MAX - 2; len <= PATH_MAX; len++) {
        al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
        size_t rest = len - strlen(base) - 1;
        al_auto(al_freep) char *given = al_calloc(rest + 1, 1);

        for (size_t i = 0; i < rest; i++)
            given[i] = i % 100 == 50 ? '/' : 'a';
        assert_int_equal(resolve(given, &path, NULL), statuses[len - (PATH_MAX - 2)]);
    }
}

static void a_root_that_vanished_is_no_such_directory(void **state)
{
    al_auto(al_roots_clear) struct al_roots mine = AL_ROOTS_INIT;
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *dir = tmpdir_path(world, "short-lived");

    (void)state;
    tmpdir_write(world, "short-lived/file", "x");
    assert_int_equal(al_roots_add(&mine, dir, NULL, NULL, NULL), 0);
    assert_int_equal(al_path_resolve(&mine, dir, "file", &path, NULL), 0);
    al_path_clear(&path);
    al_fs_remove_tree(dir);
    assert_int_equal(al_path_resolve(&mine, dir, "file", &path, &err), AL_ERR_EXECUTION);
    assert_string_equal(err.message, "No such directory: file");
    tmpdir_write(world, "short-lived/file", "another directory of the same name");
    assert_int_equal(al_path_resolve(&mine, dir, "file", &path, &err), AL_ERR_EXECUTION);
    assert_int_equal(al_path_resolve(&mine, dir, "../secret", &path, &err), AL_ERR_SANDBOX);
}

static void the_innermost_root_counts(void **state)
{
    al_auto(al_roots_clear) struct al_roots mine = AL_ROOTS_INIT;
    al_auto(al_freep) char *inner = tmpdir_path(world, "repo/src");
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;

    (void)state;
    assert_int_equal(al_roots_add(&mine, base, NULL, NULL, NULL), 0);
    assert_int_equal(al_roots_add(&mine, inner, NULL, NULL, NULL), 0);
    assert_int_equal(al_path_resolve(&mine, base, "src/main.c", &path, NULL), 0);
    assert_string_equal(path.root->path, inner);
    assert_string_equal(al_path_rel(&path), "main.c");
    assert_int_equal(al_path_resolve(&mine, inner, ".", &path, NULL), 0);
    assert_string_equal(al_path_rel(&path), ".");
    assert_int_equal(al_path_resolve(&mine, inner, base, &path, NULL), 0);
    assert_string_equal(path.root->path, base);
}

static void a_fifo_does_not_block(void **state)
{
    al_auto(al_freep) char *path = tmpdir_path(world, "repo/fifo");
    char *abs = NULL;
    int fd = -1;

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    leads_to("fifo", "repo/fifo", true);
    assert_int_equal(al_roots_open(&roots, path, O_RDONLY, &fd, &abs, NULL), 0);
    close(fd);
    free(abs);
}

/* ------------------------------------------------------------------ al_roots_open */

static int open_part(const char *in_world, int flags)
{
    al_auto(al_freep) char *path = tmpdir_path(world, in_world);
    al_auto(al_freep) char *abs = NULL;
    int fd = -1;
    int r = al_roots_open(&roots, path, flags, &fd, &abs, NULL);

    assert_int_equal(r == 0, fd >= 0);
    assert_int_equal(r == 0, abs != NULL);
    if (fd >= 0)
        close(fd);
    return r;
}

static void parts_of_a_repository_may_go_up_and_down_inside(void **state)
{
    al_auto(al_freep) char *given = tmpdir_path(world, "repo/docs/../../other/./file");
    al_auto(al_freep) char *wanted = tmpdir_path(world, "other/file");
    al_auto(al_freep) char *abs = NULL;
    char byte = 0;
    int fd = -1;

    (void)state;
    assert_int_equal(al_roots_open(&roots, given, O_RDONLY, &fd, &abs, NULL), 0);
    assert_string_equal(abs, wanted);
    assert_int_equal(read(fd, &byte, 1), 1);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    assert_int_equal(open_part("repo/src", O_PATH | O_DIRECTORY), 0);
    assert_int_equal(open_part("repo/to-other-dir", O_PATH | O_DIRECTORY), 0);
    assert_int_equal(open_part("way-in/src/..", O_RDONLY | O_DIRECTORY), 0);
}

static void parts_of_a_repository_may_not_lie_outside(void **state)
{
    static const char *const escapes[] = {
        "",
        "secret",
        "repo/../secret",
        "repo-evil/file",
        "repo/to-secret",
        "repo/to-parent",
        "repo/../gone",
        "gone/../repo/src",
        "repo/dangling-out",
        "repo/loop-a",
        "repo/magic-cwd",
    };
    al_auto(al_freep) char *abs = NULL;
    int fd = -1;

    (void)state;
    for (size_t i = 0; i < COUNT(escapes); i++)
        assert_int_equal(open_part(escapes[i], O_PATH), AL_ERR_SANDBOX);
    assert_int_equal(al_roots_open(&roots, "src", O_PATH, &fd, &abs, NULL), AL_ERR_SANDBOX);
    assert_int_equal(al_roots_open(&roots, "", O_PATH, &fd, &abs, NULL), AL_ERR_SANDBOX);
}

static void a_missing_part_is_told_from_one_outside(void **state)
{
    (void)state;
    assert_int_equal(open_part("repo/gone", O_PATH), AL_ERR_NOT_FOUND);
    assert_int_equal(open_part("repo/dangling", O_PATH), AL_ERR_NOT_FOUND);
    assert_int_equal(open_part("repo/docs/../gone/x", O_RDONLY), AL_ERR_NOT_FOUND);
    assert_int_equal(open_part("repo/src/main.c", O_PATH | O_DIRECTORY), AL_ERR_EXECUTION);
    assert_int_equal(open_part("secret", O_PATH | O_DIRECTORY), AL_ERR_SANDBOX);
}

/* ------------------------------------------------------------------ races */

static atomic_bool stop;

static void *swap_for_ever(void *payload)
{
    (void)payload;
    while (!atomic_load(&stop))
        (void)renameat2(world->fd, "repo/flip", world->fd, "repo/flop", RENAME_EXCHANGE);
    return NULL;
}

static void a_directory_swapped_for_a_link_never_leads_outside(void **state)
{
    struct stat evil, st;
    pthread_t thread;

    (void)state;
    tmpdir_write(world, "repo/flip/file", "good");
    tmpdir_symlink(world, "../repo-evil", "repo/flop");
    assert_int_equal(fstatat(world->fd, "repo-evil/file", &evil, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, swap_for_ever, NULL), 0);
    for (int i = 0; i < 3000; i++) {
        al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;

        if (al_path_resolve(&roots, base, "flip/file", &path, NULL) < 0 || path.fd < 0)
            continue;
        assert_int_equal(fstat(path.fd, &st), 0);
        assert_int_not_equal(st.st_ino, evil.st_ino);
    }
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_inside_is_opened),
        cmocka_unit_test(absolute_paths_are_measured_by_where_they_lead),
        cmocka_unit_test(links_that_end_inside_a_root_are_followed),
        cmocka_unit_test(what_is_missing_is_placed),
        cmocka_unit_test(what_lies_or_leads_outside_is_refused),
        cmocka_unit_test(a_magic_link_is_refused_even_when_it_leads_inside),
        cmocka_unit_test(a_refusal_is_safe_for_a_terminal),
        cmocka_unit_test(absolute_paths_can_be_switched_off),
        cmocka_unit_test(a_path_has_1_to_4095_bytes),
        cmocka_unit_test(a_component_has_255_bytes_at_most),
        cmocka_unit_test(a_missing_path_has_4095_bytes_with_its_root),
        cmocka_unit_test(a_root_that_vanished_is_no_such_directory),
        cmocka_unit_test(the_innermost_root_counts),
        cmocka_unit_test(a_fifo_does_not_block),
        cmocka_unit_test(parts_of_a_repository_may_go_up_and_down_inside),
        cmocka_unit_test(parts_of_a_repository_may_not_lie_outside),
        cmocka_unit_test(a_missing_part_is_told_from_one_outside),
        cmocka_unit_test(a_directory_swapped_for_a_link_never_leads_outside),
    };

    return cmocka_run_group_tests_name("guard/path", tests, setup, teardown);
}
