// SPDX-License-Identifier: Apache-2.0
/* guard/root.h: a root that is gone makes room for another one, once nobody holds it any more. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/root.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

#define ROOM 2

/* A list with room for ROOM admitted roots. */
struct world {
    struct tmpdir *dir;
    struct al_roots roots;
};

static int setup(void **state)
{
    struct world *world = al_calloc(1, sizeof(*world));
    al_auto(al_freep) char *path = NULL;

    world->dir = tmpdir_new();
    world->roots = AL_ROOTS_INIT;
    tmpdir_mkdir(world->dir, "first");
    path = tmpdir_path(world->dir, "first");
    assert_int_equal(al_roots_add(&world->roots, path, NULL, NULL, NULL), 0);
    al_roots_reserve(&world->roots, ROOM);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    al_roots_clear(&world->roots);
    tmpdir_free(world->dir);
    free(world);
    return 0;
}

/* Make a directory and admit it; 0 or the status. */
static int admit(struct world *world, const char *name, struct al_error *err)
{
    al_auto(al_freep) char *path = tmpdir_path(world->dir, name);
    al_auto(al_closep) int fd = -1;

    tmpdir_mkdir(world->dir, name);
    fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return al_roots_admit(&world->roots, path, fd, NULL, NULL, err);
}

static void drop(struct world *world, const char *name)
{
    assert_int_equal(unlinkat(world->dir->fd, name, AT_REMOVEDIR), 0);
    al_roots_release_gone(&world->roots);
}

static const struct al_root *find(struct world *world, const char *name)
{
    al_auto(al_freep) char *path = tmpdir_path(world->dir, name);

    return al_roots_find(&world->roots, path);
}

/* Both lists have it, and the descriptor leads to it. */
static void assert_root(struct world *world, const char *name)
{
    al_auto(al_freep) char *path = tmpdir_path(world->dir, name);
    const struct al_root *lists[] = { al_roots_find(&world->roots, path),
                                      al_roots_find(al_roots_parts(&world->roots), path) };

    for (size_t i = 0; i < 2; i++) {
        al_auto(al_freep) char *leads = lists[i] ? al_fs_fd_path(lists[i]->fd) : NULL;

        assert_non_null(lists[i]);
        assert_string_equal(lists[i]->path, path);
        assert_string_equal(leads, path);
    }
}

static void the_room_is_for_those_that_are_there(void **state)
{
    struct world *world = *state;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    assert_int_equal(admit(world, "a", NULL), 0);
    assert_int_equal(admit(world, "b", NULL), 0);
    assert_int_equal(admit(world, "c", &err), AL_ERR_EXECUTION);
    assert_non_null(strstr(err.message, "no room for one more root"));
    assert_int_equal(world->roots.count, ROOM + 1);
    assert_null(find(world, "c"));
    drop(world, "a");
    assert_null(find(world, "a"));
    assert_int_equal(admit(world, "c", NULL), 0);
    assert_int_equal(world->roots.count, ROOM + 1);
    assert_root(world, "b");
    assert_root(world, "c");
    assert_null(find(world, "a"));
}

static void many_come_and_go(void **state)
{
    struct world *world = *state;

    for (int i = 0; i < 300; i++) {
        const uint64_t entered = al_roots_enter(&world->roots);
        char name[16];

        (void)snprintf(name, sizeof(name), "n%d", i);
        assert_int_equal(admit(world, name, NULL), 0);
        assert_root(world, name);
        drop(world, name);
        al_roots_leave(&world->roots, entered);
    }
    assert_true(world->roots.count <= ROOM + 1);
}

static void what_somebody_holds_stays(void **state)
{
    struct world *world = *state;
    al_auto(al_freep) char *path = tmpdir_path(world->dir, "a");
    const struct al_root *held;
    uint64_t holder, later;

    assert_int_equal(admit(world, "a", NULL), 0);
    assert_int_equal(admit(world, "b", NULL), 0);
    holder = al_roots_enter(&world->roots);
    held = find(world, "a");
    drop(world, "a");
    for (int i = 0; i < 4; i++) { /* others come and go meanwhile */
        later = al_roots_enter(&world->roots);
        assert_null(find(world, "a"));
        assert_int_equal(admit(world, "c", NULL), AL_ERR_EXECUTION);
        assert_string_equal(held->path, path);
        al_roots_leave(&world->roots, later);
    }
    later = al_roots_enter(&world->roots);
    al_roots_leave(&world->roots, holder);
    assert_int_equal(admit(world, "c", NULL), 0);
    al_roots_leave(&world->roots, later);
    assert_root(world, "c");
}

static void what_comes_back_is_a_root_when_it_is_admitted(void **state)
{
    struct world *world = *state;
    const uint64_t entered = al_roots_enter(&world->roots);

    assert_int_equal(admit(world, "a", NULL), 0);
    drop(world, "a");
    tmpdir_mkdir(world->dir, "a");
    assert_null(find(world, "a"));
    assert_int_equal(admit(world, "a", NULL), 0);
    assert_root(world, "a");
    assert_int_equal(world->roots.count, 2);
    al_roots_leave(&world->roots, entered);
}

static void the_roots_of_the_user_are_never_released(void **state)
{
    struct world *world = *state;

    drop(world, "first");
    assert_non_null(find(world, "first"));
}

static void a_list_that_does_not_grow_needs_nothing(void **state)
{
    al_auto(al_roots_clear) struct al_roots roots = AL_ROOTS_INIT;

    (void)state;
    al_roots_release_gone(&roots);
    al_roots_leave(&roots, al_roots_enter(&roots));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_room_is_for_those_that_are_there, setup, teardown),
        cmocka_unit_test_setup_teardown(many_come_and_go, setup, teardown),
        cmocka_unit_test_setup_teardown(what_somebody_holds_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(what_comes_back_is_a_root_when_it_is_admitted, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_roots_of_the_user_are_never_released, setup, teardown),
        cmocka_unit_test(a_list_that_does_not_grow_needs_nothing),
    };

    return cmocka_run_group_tests_name("guard/root_use", tests, NULL, NULL);
}
