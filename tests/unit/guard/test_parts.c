// SPDX-License-Identifier: Apache-2.0
/* guard/root.h, al_roots_open(): parts of a repository that its own files name are never outside
 * the roots, even if something is swapped on the way. */
#include "guard/path.h"
#include "guard/root.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/unit/guard/path_lib.h"

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
        cmocka_unit_test(parts_of_a_repository_may_go_up_and_down_inside),
        cmocka_unit_test(parts_of_a_repository_may_not_lie_outside),
        cmocka_unit_test(a_missing_part_is_told_from_one_outside),
        cmocka_unit_test(a_directory_swapped_for_a_link_never_leads_outside),
    };

    return cmocka_run_group_tests_name("guard/parts", tests, setup, teardown);
}
