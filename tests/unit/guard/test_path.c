// SPDX-License-Identifier: Apache-2.0
/* guard/root.h: no path an agent or a repository names leads outside the roots. */
#include "guard/path.h"
#include "guard/root.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/guard/path_lib.h"

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
    assert_string_equal(err.message, "Path outside sandbox: ../<U+000A><U+202E>");
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
    };

    return cmocka_run_group_tests_name("guard/path", tests, setup, teardown);
}
