// SPDX-License-Identifier: Apache-2.0
/* guard/root.h: a root is a directory of the user's choice, and never one that gives access to
 * airlock itself. */
#include "guard/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static struct tmpdir *world;

static int setup(void **state)
{
    (void)state;
    world = tmpdir_new();
    tmpdir_mkdir(world, "home/project/sub");
    tmpdir_mkdir(world, "home/project-two");
    tmpdir_mkdir(world, "home/.config/airlock");
    tmpdir_write(world, "home/file", "x");
    tmpdir_symlink(world, "home/project", "link");
    tmpdir_symlink(world, "home", "home-link");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tmpdir_free(world);
    return 0;
}

/* Add a root in the world; `forbidden` is in the world too, or NULL. */
static int add(const char *name, const char *forbidden, const char *home, struct al_error *err)
{
    al_auto(al_roots_clear) struct al_roots roots = AL_ROOTS_INIT;
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    al_auto(al_freep) char *path = tmpdir_path(world, name);
    al_auto(al_freep) char *home_path = home ? tmpdir_path(world, home) : NULL;
    int r;

    if (forbidden)
        al_strv_take(&list, tmpdir_path(world, forbidden));
    r = al_roots_add(&roots, path, &list, home_path, err);
    assert_int_equal(roots.count, r == 0);
    if (err && r < 0) {
        assert_non_null(err->message);
        assert_null(strchr(err->message, '\n'));
    }
    return r;
}

/* Admit `name` with the directory that was there before `swap`; 0 or the status. */
static int admit(const char *name, void (*swap)(void), struct al_roots *roots, struct al_error *err)
{
    al_auto(al_freep) char *path = tmpdir_path(world, name);
    al_auto(al_strv_clear) struct al_strv nothing = AL_STRV_INIT;
    al_auto(al_closep) int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    if (swap)
        swap();
    return al_roots_admit(roots, path, fd, &nothing, NULL, err);
}

static void move_away(void)
{
    assert_int_equal(renameat(world->fd, "made", world->fd, "moved"), 0);
}

static void swap_for_a_link(void)
{
    move_away();
    tmpdir_symlink(world, "home", "made");
}

static void swap_for_a_link_to_itself(void)
{
    move_away();
    tmpdir_symlink(world, "moved", "made");
}

static void swap_for_a_directory(void)
{
    move_away();
    tmpdir_mkdir(world, "made");
}

static void what_comes_into_its_place_is_not_admitted(void **state)
{
    static void (*const swaps[])(void) = { swap_for_a_link, swap_for_a_link_to_itself,
                                           swap_for_a_directory, move_away };
    al_auto(al_roots_clear) struct al_roots roots = AL_ROOTS_INIT;
    al_auto(al_freep) char *path = tmpdir_path(world, "home/project");

    (void)state;
    assert_int_equal(al_roots_add(&roots, path, NULL, NULL, NULL), 0);
    al_roots_reserve(&roots, 2);
    for (size_t i = 0; i < COUNT(swaps); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        tmpdir_mkdir(world, "made");
        assert_true(admit("made", swaps[i], &roots, &err) < 0);
        assert_non_null(err.message);
        assert_int_equal(roots.count, 1);
        (void)unlinkat(world->fd, "made", 0);
        (void)unlinkat(world->fd, "made", AT_REMOVEDIR);
        assert_int_equal(unlinkat(world->fd, "moved", AT_REMOVEDIR), 0);
    }
    tmpdir_mkdir(world, "made");
    assert_int_equal(admit("made", NULL, &roots, NULL), 0);
    assert_int_equal(roots.count, 2);
}

static void a_root_is_canonical_and_open(void **state)
{
    static const char *const names[] = {
        "home/project", "home/project/", "home/./project//",
        "link",         "link/sub/..",   "home/project/../project"
    };
    al_auto(al_freep) char *wanted = tmpdir_path(world, "home/project");
    struct stat st;

    (void)state;
    assert_int_equal(stat(wanted, &st), 0);
    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_roots_clear) struct al_roots roots = AL_ROOTS_INIT;
        al_auto(al_freep) char *path = tmpdir_path(world, names[i]);

        assert_int_equal(al_roots_add(&roots, path, NULL, NULL, NULL), 0);
        assert_string_equal(roots.items[0].path, wanted);
        assert_true(roots.items[0].fd >= 0);
        assert_int_equal(roots.items[0].ino, st.st_ino);
        assert_int_equal(roots.items[0].dev, st.st_dev);
    }
}

static void a_relative_root_is_below_the_current_directory(void **state)
{
    al_auto(al_roots_clear) struct al_roots roots = AL_ROOTS_INIT;
    al_auto(al_freep) char *wanted = tmpdir_path(world, "home/project");
    al_auto(al_freep) char *before = getcwd(NULL, 0);

    (void)state;
    assert_int_equal(fchdir(world->fd), 0);
    assert_int_equal(al_roots_add(&roots, "home/project", NULL, NULL, NULL), 0);
    assert_int_equal(chdir(before), 0);
    assert_string_equal(roots.items[0].path, wanted);
}

static void the_machine_and_the_home_directory_are_no_roots(void **state)
{
    static const char *const machine[] = { "/", "//", "/.", "/etc/..", "/proc/../" };
    static const char *const home[] = { "home", "home/", "home-link", "home/project/.." };

    (void)state;
    for (size_t i = 0; i < COUNT(machine); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(add(machine[i], NULL, NULL, &err), AL_ERR_BAD_ARGS);
        assert_non_null(strstr(err.message, "is the whole machine; name a project's directory"));
    }
    for (size_t i = 0; i < COUNT(home); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(add(home[i], NULL, "home-link", &err), AL_ERR_BAD_ARGS);
        assert_non_null(strstr(err.message, "is the home directory; name a project's directory"));
        assert_int_equal(add(home[i], NULL, NULL, NULL), 0);
    }
    assert_int_equal(add("home/project", NULL, "home", NULL), 0);
    assert_int_equal(add("home/project", NULL, "no-home", NULL), 0);
}

static void what_is_no_directory_is_no_root(void **state)
{
    static const char *const names[] = { "gone", "home/file", "home/file/x", "home/gone/.." };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(add(names[i], NULL, NULL, &err), AL_ERR_BAD_ARGS);
        assert_non_null(strstr(err.message, "; name an existing directory"));
    }
    al_auto(al_roots_clear) struct al_roots roots = AL_ROOTS_INIT;
    assert_int_equal(al_roots_add(&roots, "", NULL, NULL, NULL), AL_ERR_BAD_ARGS);
}

static void a_root_may_not_contain_what_is_airlocks_own(void **state)
{
    static const struct {
        const char *root, *forbidden;
        int status;
    } cases[] = {
        { "home/.config/airlock", "home/.config/airlock", AL_ERR_BAD_ARGS },
        { "home/.config", "home/.config/airlock", AL_ERR_BAD_ARGS },
        { "home", "home/.config/airlock/config.toml", AL_ERR_BAD_ARGS },
        { "home-link", "home/.config/airlock", AL_ERR_BAD_ARGS },
        { "home", "home-link/.config/airlock", AL_ERR_BAD_ARGS },
        { "home/project", "home/project/.state/airlock/log", AL_ERR_BAD_ARGS },
        { "home/project", "link/log", AL_ERR_BAD_ARGS },
        { "home", "home/project/../gone", AL_ERR_BAD_ARGS },
        { "home/project", "home/.config/airlock", 0 },
        { "home/project", "home/project-two", 0 },
        { "home/project", "home/project-two/log", 0 },
        { "home/project", "home/gone/airlock", 0 },
        { "home/project/sub", "home/project", 0 },
        { "home/project/sub", "home/project/log", 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (add(cases[i].root, cases[i].forbidden, NULL, NULL) != cases[i].status)
            fail_msg("root %s, forbidden %s", cases[i].root, cases[i].forbidden);
}

static void a_link_in_a_root_on_the_way_to_airlocks_own_counts(void **state)
{
    al_auto(al_freep) char *target = tmpdir_path(world, "home/.config");

    (void)state;
    tmpdir_symlink(world, target, "home/project/conf");
    tmpdir_symlink(world, "home/project/conf", "conf");
    assert_int_equal(add("home/project", "conf/airlock", NULL, NULL), AL_ERR_BAD_ARGS);
    assert_int_equal(add("home/project-two", "conf/airlock", NULL, NULL), 0);
}

static void what_cannot_be_judged_is_refused(void **state)
{
    (void)state;
    tmpdir_symlink(world, "loop", "loop");
    assert_int_equal(add("home/project", "loop/airlock", NULL, NULL), AL_ERR_BAD_ARGS);
    assert_int_equal(add("home/project", "gone/../home/project/log", NULL, NULL), AL_ERR_BAD_ARGS);
}

static void the_message_names_root_and_path_in_one_safe_line(void **state)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_roots_clear) struct al_roots roots = AL_ROOTS_INIT;
    al_auto(al_freep) char *root = tmpdir_path(world, "home");
    al_auto(al_freep) char *own = tmpdir_path(world, "home/.config/airlock");
    al_auto(al_strv_clear) struct al_strv forbidden = AL_STRV_INIT;
    al_auto(al_freep) char *wanted = al_asprintf(
        "root '%s' contains airlock's own '%s'; name a directory that does not", root, own);

    (void)state;
    al_strv_add(&forbidden, own);
    assert_int_equal(al_roots_add(&roots, root, &forbidden, NULL, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, wanted);
    assert_int_equal(al_roots_add(&roots, "/gone\n\033[31m", NULL, NULL, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message,
                        "root '/gone<U+000A>' cannot be used: No such file or directory; "
                        "name an existing directory");
}

static void roots_may_lie_in_each_other_and_be_given_twice(void **state)
{
    al_auto(al_roots_clear) struct al_roots roots = AL_ROOTS_INIT;
    al_auto(al_freep) char *outer = tmpdir_path(world, "home/project");
    al_auto(al_freep) char *inner = tmpdir_path(world, "home/project/sub");
    al_auto(al_freep) char *link = tmpdir_path(world, "link");

    (void)state;
    assert_int_equal(al_roots_add(&roots, outer, NULL, NULL, NULL), 0);
    assert_int_equal(al_roots_add(&roots, inner, NULL, NULL, NULL), 0);
    assert_int_equal(al_roots_add(&roots, link, NULL, NULL, NULL), 0);
    assert_int_equal(roots.count, 2);
    assert_string_equal(roots.items[0].path, outer);
}

static void the_root_of_a_path_is_found_by_whole_components(void **state)
{
    al_auto(al_roots_clear) struct al_roots roots = AL_ROOTS_INIT;
    al_auto(al_freep) char *outer = tmpdir_path(world, "home/project");
    al_auto(al_freep) char *inner = tmpdir_path(world, "home/project/sub");
    static const struct {
        const char *path;
        int root;
    } cases[] = {
        { "home/project", 0 },      { "home/project/x", 0 },
        { "home/project/sub", 1 },  { "home/project/sub/x/y", 1 },
        { "home/project/subx", 0 }, { "home/project-two", -1 },
        { "home/projec", -1 },      { "home", -1 },
        { "home/projectx/y", -1 },  { "/", -1 },
    };

    (void)state;
    assert_int_equal(al_roots_add(&roots, outer, NULL, NULL, NULL), 0);
    assert_int_equal(al_roots_add(&roots, inner, NULL, NULL, NULL), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *path = tmpdir_path(world, cases[i].path);
        const struct al_root *found = al_roots_find(&roots, path);

        assert_ptr_equal(found, cases[i].root < 0 ? NULL : &roots.items[cases[i].root]);
    }
}

static void a_file_and_the_links_to_it_are_outside_of_every_root(void **state)
{
    static const struct {
        const char *path;
        bool excluded;
    } cases[] = {
        { "w-out/w.md", true },         { "w-out/none.md", true },    { "w-out/inward.md", false },
        { "w-root/w.md", false },       { "w-root/sub/w.md", false }, { "w-root/none.md", false },
        { "w-root/outward.md", false }, { "w-root-2/w.md", true },
    };
    al_auto(al_roots_clear) struct al_roots roots = AL_ROOTS_INIT;
    al_auto(al_freep) char *root = tmpdir_path(world, "w-root");

    (void)state;
    tmpdir_write(world, "w-out/w.md", "");
    tmpdir_write(world, "w-root/w.md", "");
    tmpdir_write(world, "w-root/sub/w.md", "");
    tmpdir_write(world, "w-root-2/w.md", "");
    tmpdir_symlink(world, "../w-root/w.md", "w-out/inward.md");
    tmpdir_symlink(world, "../w-out/w.md", "w-root/outward.md");
    assert_int_equal(al_roots_add(&roots, root, NULL, NULL, NULL), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_freep) char *path = tmpdir_path(world, cases[i].path);
        al_auto(al_freep) char *wanted =
            al_asprintf("%s: the worker file lies in the root '%s', where an agent could change "
                        "it; move it out of every root",
                        path, root);

        assert_int_equal(al_roots_exclude(&roots, path, "worker file", &err),
                         cases[i].excluded ? 0 : AL_ERR_BAD_ARGS);
        if (!cases[i].excluded)
            assert_string_equal(err.message, wanted);
    }
}

/* A seccomp filter applies to its thread alone, and ends with it. */
static void *without_openat2(void *payload)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { .len = COUNT(code), .filter = code };
    al_auto(al_roots_clear) struct al_roots roots = AL_ROOTS_INIT;
    struct al_error *err = payload;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        return NULL;
    (void)al_roots_add(&roots, world->path, NULL, NULL, err);
    return payload;
}

static void a_kernel_without_openat2_is_named_as_the_reason(void **state)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    pthread_t thread;
    void *ran = NULL;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, without_openat2, &err), 0);
    assert_int_equal(pthread_join(thread, &ran), 0);
    assert_non_null(ran);
    assert_int_equal(err.status, AL_ERR_EXECUTION);
    assert_string_equal(err.message,
                        "openat2(2) is not available: airlock needs Linux 5.6 or later");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_into_its_place_is_not_admitted),
        cmocka_unit_test(a_root_is_canonical_and_open),
        cmocka_unit_test(a_relative_root_is_below_the_current_directory),
        cmocka_unit_test(the_machine_and_the_home_directory_are_no_roots),
        cmocka_unit_test(what_is_no_directory_is_no_root),
        cmocka_unit_test(a_root_may_not_contain_what_is_airlocks_own),
        cmocka_unit_test(a_link_in_a_root_on_the_way_to_airlocks_own_counts),
        cmocka_unit_test(what_cannot_be_judged_is_refused),
        cmocka_unit_test(the_message_names_root_and_path_in_one_safe_line),
        cmocka_unit_test(roots_may_lie_in_each_other_and_be_given_twice),
        cmocka_unit_test(the_root_of_a_path_is_found_by_whole_components),
        cmocka_unit_test(a_file_and_the_links_to_it_are_outside_of_every_root),
        cmocka_unit_test(a_kernel_without_openat2_is_named_as_the_reason),
    };

    return cmocka_run_group_tests_name("guard/root", tests, setup, teardown);
}
