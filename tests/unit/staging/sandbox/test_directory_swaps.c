// SPDX-License-Identifier: Apache-2.0
/* staging/sandbox/directory.c while somebody else replaces directories by links to a place outside.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "guard/root.h"
#include "tests/unit/staging/sandbox/sandbox_lib.h"

#define ROUNDS 300

/* A workspace with a directory `d`, and a link to the outside that can take its place. */
static int setup(void **state)
{
    struct box *box = box_new(true);

    tmpdir_write(box->dir, "ws/d/keep", "inside");
    tmpdir_write(box->dir, "outside/keep", "secret");
    tmpdir_symlink(box->dir, "../outside", "ws/other");
    *state = box;
    return 0;
}

static void swap(const struct box *box)
{
    assert_int_equal(renameat2(box->dir->fd, "ws/d", box->dir->fd, "ws/other", RENAME_EXCHANGE), 0);
}

static void assert_nothing_outside(const struct box *box)
{
    al_auto(al_freep) char *secret = tmpdir_read(box->dir, "outside/keep");
    al_auto(al_freep) char *other = tmpdir_read(box->dir, "outside/new");

    assert_string_equal(secret, "secret");
    assert_null(other);
}

struct swapper {
    const struct box *box;
    atomic_bool done;
};

static void *swap_on(void *payload)
{
    struct swapper *swapper = payload;

    while (!atomic_load(&swapper->done))
        swap(swapper->box);
    return NULL;
}

/* Every call gives what is inside, or fails. */
static void stays_inside_while_directories_are_swapped(void **state)
{
    struct box *box = *state;
    struct swapper swapper = { .box = box };
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, swap_on, &swapper), 0);
    for (int i = 0; i < ROUNDS; i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        struct al_sandbox_files files;

        if (al_sandbox_read(box->sandbox, "d/keep", 0, 10, &text, NULL, &err) == 0)
            assert_string_equal(text.buf, "inside");
        if (al_sandbox_write(box->sandbox, "d/new", "mine", 4, &err) == 0)
            (void)al_sandbox_remove(box->sandbox, "d/new", NULL, &err);
        if (al_sandbox_snapshot(box->sandbox, &files, &err) == 0)
            al_sandbox_files_clear(&files);
    }
    atomic_store(&swapper.done, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_nothing_outside(box);
}

/* The store swaps before it gives the content. */
static int swap_and_give(void *payload, const char *const *oids, size_t count, al_blob_take *take,
                         void *take_payload, struct al_error *err)
{
    (void)oids;
    (void)count;
    swap(payload);
    return take(take_payload, 0, "stolen", 6, true, err);
}

static void imports_nothing_through_a_link_that_appears(void **state)
{
    struct box *box = *state;
    const struct al_blob_source source = { swap_and_give, box };
    char path[] = "d/keep";
    const struct al_sandbox_file file = { .path = path, .mode = AL_SANDBOX_MODE_FILE };
    struct al_error err = AL_ERROR_INIT;
    FILE *control;

    assert_failed(import_from(box->sandbox, &file, 1, &source, &err), &err, AL_ERR_SANDBOX,
                  "is a symbolic link");
    assert_nothing_outside(box);
    control = fdopen(openat(box->dir->fd, "ws/d/control", O_WRONLY | O_CREAT, 0666), "w");
    assert_non_null(control); /* a plain open() follows the link */
    (void)fclose(control);
    assert_int_equal(faccessat(box->dir->fd, "outside/control", F_OK, 0), 0);
}

/* A file in the list lies below a link in the list. */
static void imports_nothing_through_a_link_of_its_own(void **state)
{
    struct box *box = *state;
    struct store store = { .reads = 0 };
    const struct al_blob_source source = { store_read, &store };
    char link[] = "l", below[] = "l/new";
    const struct al_sandbox_file files[] = {
        { .path = link, .mode = AL_SANDBOX_MODE_LINK, .oid = stored_oid(3) },
        { .path = below, .mode = AL_SANDBOX_MODE_FILE, .oid = stored_oid(1) },
    };
    struct al_error err = AL_ERROR_INIT;

    assert_failed(import_from(box->sandbox, files, 2, &source, &err), &err, AL_ERR_SANDBOX,
                  "is a symbolic link");
    assert_nothing_outside(box);
}

/* Open a sandbox at this path of the scratch directory, which is a root if `in_root`. */
static int open_at(const struct box *box, const char *name, bool in_root, char **ret_dir,
                   struct al_error *err)
{
    al_auto(al_roots_clear) struct al_roots roots = AL_ROOTS_INIT;
    al_auto(al_freep) char *path = tmpdir_path(box->dir, name);
    struct al_sandbox *sandbox;
    int r;

    if (in_root)
        assert_int_equal(al_roots_add(&roots, box->dir->path, NULL, NULL, err), 0);
    r = al_sandbox_new(
        &(struct al_sandbox_options){
            .in_directory = true, .path = path, .max_bytes = BOX_BYTES, .roots = &roots },
        &sandbox, err);
    if (r < 0)
        return r;
    *ret_dir = al_strdup(al_sandbox_dir(sandbox));
    al_sandbox_free(sandbox);
    return 0;
}

static void opens_no_workspace_through_a_link_in_a_root(void **state)
{
    struct box *box = *state;
    struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *outside = tmpdir_path(box->dir, "outside/ws");
    al_auto(al_freep) char *inside = tmpdir_path(box->dir, "deep/er/ws");
    al_auto(al_freep) char *followed = NULL;
    al_auto(al_freep) char *made = NULL;
    al_auto(al_freep) char *none = NULL;

    assert_int_equal(open_at(box, "ws/other/ws", false, &followed, &err), 0);
    assert_string_equal(followed, outside);
    assert_failed(open_at(box, "ws/other/ws", true, &none, &err), &err, AL_ERR_BAD_ARGS,
                  "symbolic link inside a root");
    assert_failed(open_at(box, "ws/other", true, &none, &err), &err, AL_ERR_BAD_ARGS,
                  "symbolic link inside a root");
    assert_failed(open_at(box, "ws/../outside", true, &none, &err), &err, AL_ERR_BAD_ARGS, "'..'");
    assert_failed(open_at(box, "ws/d/keep", true, &none, &err), &err, AL_ERR_BAD_ARGS,
                  "Not a directory");
    assert_int_equal(open_at(box, "deep/er/ws", true, &made, &err), 0);
    assert_string_equal(made, inside);
}

static void opens_no_workspace_in_a_git_directory(void **state)
{
    struct box *box = *state;
    struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *none = NULL;

    tmpdir_write(box->dir, "bare/HEAD", "x");
    tmpdir_write(box->dir, "bare/objects/x", "x");
    tmpdir_write(box->dir, "bare/refs/x", "x");
    assert_failed(open_at(box, "bare", false, &none, &err), &err, AL_ERR_BAD_ARGS,
                  "is inside a git directory");
    assert_failed(open_at(box, "bare/hooks", false, &none, &err), &err, AL_ERR_BAD_ARGS,
                  "is inside a git directory");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, box_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stays_inside_while_directories_are_swapped),
        TEST(imports_nothing_through_a_link_that_appears),
        TEST(imports_nothing_through_a_link_of_its_own),
        TEST(opens_no_workspace_through_a_link_in_a_root),
        TEST(opens_no_workspace_in_a_git_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
