// SPDX-License-Identifier: Apache-2.0
/* sandbox/directory_import.c: files that are written while their content arrives.
 * test_directory_import_new.c has directories that are made as a whole. */
#include "tests/unit/staging/sandbox/import_lib.h"

static void assert_not_there_yet(struct scene *scene)
{
    assert_list(scene->box, "", NULL, "a");
    assert_content(scene->box, "a", "content");
}

static void shows_no_file_in_part(void **state)
{
    struct scene scene = {
        .box = *state, .paths = { "a", "d/b" }, .count = 2, .at = 1, .happens = assert_not_there_yet
    };

    assert_imports(&scene);
    assert_list(scene.box, "", NULL, "a d/b");
    assert_content(scene.box, "d/b", "content");
}

static void keeps_the_old_file_until_the_new_one_is_complete(void **state)
{
    struct scene scene = { .box = *state, .paths = { "a" }, .count = 1, .fails = true };

    box_write(scene.box, "a", "old");
    assert_refuses(&scene, AL_ERR_EXECUTION, "the store fails");
    assert_content(scene.box, "a", "old");
    scene.fails = false;
    assert_imports(&scene);
    assert_content(scene.box, "a", "content");
    assert_list(scene.box, "", NULL, "a");
}

static void leaves_nothing_of_a_file_that_failed(void **state)
{
    struct scene scene = {
        .box = *state, .paths = { "a", "d/e/b" }, .count = 2, .at = 1, .fails = true
    };

    assert_refuses(&scene, AL_ERR_EXECUTION, "the store fails");
    assert_list(scene.box, "", NULL, "a");
    assert_false(is_there(scene.box, "ws/d"));
}

/* In the way of a new file. */
static void make_file(struct scene *scene)
{
    tmpdir_write(scene->box->dir, "ws/d/b", "mine");
}

static void make_link(struct scene *scene)
{
    tmpdir_write(scene->box->dir, "outside", "secret");
    tmpdir_symlink(scene->box->dir, "../../outside", "ws/d/b");
}

static void make_directory(struct scene *scene)
{
    tmpdir_mkdir(scene->box->dir, "ws/d/b");
}

static void takes_the_place_of_no_file_when_it_is_new(void **state)
{
    static void (*const ways[])(struct scene *) = { make_file, make_link, make_directory };

    for (size_t i = 0; i < COUNT(ways); i++) {
        struct scene scene = { .box = *state,
                               .paths = { "d/a", "d/b" },
                               .count = 2,
                               .is_new = true,
                               .at = 1,
                               .happens = ways[i] };
        struct stat before, after;

        assert_refuses(&scene, AL_ERR_EXECUTION, "was created meanwhile by somebody else");
        assert_int_equal(fstatat(scene.box->dir->fd, "ws/d/b", &before, AT_SYMLINK_NOFOLLOW), 0);
        assert_refuses(&scene, AL_ERR_EXECUTION, "was created meanwhile by somebody else");
        assert_int_equal(fstatat(scene.box->dir->fd, "ws/d/b", &after, AT_SYMLINK_NOFOLLOW), 0);
        assert_int_equal(before.st_ino, after.st_ino);
        assert_content(scene.box, "d/a", "content");
        box_remove(scene.box, "d/a");
        assert_int_equal(
            unlinkat(scene.box->dir->fd, "ws/d/b", S_ISDIR(before.st_mode) ? AT_REMOVEDIR : 0), 0);
    }
}

static void replaces_a_file_or_a_link_otherwise(void **state)
{
    static void (*const ways[])(struct scene *) = { make_file, make_link };
    static const unsigned modes[] = { AL_SANDBOX_MODE_FILE, AL_SANDBOX_MODE_LINK };
    struct scene scene = { .box = *state, .paths = { "d/b" }, .count = 1 };

    for (size_t i = 0; i < COUNT(ways) * COUNT(modes); i++) {
        scene.mode = modes[i / 2];
        scene.happens = ways[i % 2];
        assert_imports(&scene);
        assert_snapshot(scene.box,
                        scene.mode == AL_SANDBOX_MODE_LINK ? "120000 d/b" : "100644 d/b");
        box_remove(scene.box, "d/b");
    }
    scene.happens = make_directory;
    assert_refuses(&scene, AL_ERR_EXECUTION, "is a directory");
    assert_int_equal(is_there(scene.box, "outside"), 1);
}

static void remove_sibling(struct scene *scene)
{
    box_remove(scene->box, "d/e/a"); /* and the directories, which are empty then */
    assert_false(is_there(scene->box, "ws/d"));
}

static void makes_a_directory_again_that_another_call_removed(void **state)
{
    struct scene scene = {
        .box = *state, .paths = { "d/e/a", "d/e/b" }, .count = 2, .at = 1, .happens = remove_sibling
    };

    assert_imports(&scene);
    assert_list(scene.box, "", NULL, "d/e/b");
}

/* Also when the parts come one after the other into one directory. */
static void makes_no_git_directory(void **state)
{
    static const char *const orders[][4] = {
        { "g/objects/x", "g/refs/x", "g/a", "g/HEAD" },
        { "g/a", "g/HEAD", "g/b", "g/commondir" },
        { "g/a", "g/HEAD", "g/b", "g/CommonDir" },
    };

    for (size_t i = 0; i < COUNT(orders); i++) {
        struct scene scene = { .box = *state, .count = 4 };

        memcpy(scene.paths, orders[i], sizeof(orders[i]));
        assert_refuses(&scene, AL_ERR_SANDBOX, "Protected path");
        assert_read_fails(scene.box, orders[i][3], AL_ERR_NOT_FOUND, "no such file");
        for (size_t j = 0; j < 3; j++)
            box_remove(scene.box, orders[i][j]);
    }
}

static void has_the_mode_of_the_store(void **state)
{
    struct scene scene = { .box = *state,
                           .paths = { "a" },
                           .count = 1,
                           .mode = AL_SANDBOX_MODE_EXECUTABLE,
                           .is_new = true };
    mode_t before = umask(027);
    struct stat st;

    assert_imports(&scene);
    assert_int_equal(fstatat(scene.box->dir->fd, "ws/a", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    (void)umask(before);
}

static void limits_one_file(void **state)
{
    struct scene scene = { .box = *state, .paths = { "a", "b" }, .count = 2 };

    scene.length = BOX_BYTES - 1;
    assert_imports(&scene);
    scene.length = BOX_BYTES;
    assert_imports(&scene);
    box_remove(scene.box, "a");
    box_remove(scene.box, "b");
    scene.length = BOX_BYTES + 1;
    assert_refuses(&scene, AL_ERR_EXECUTION, "is larger than staging.max_bytes");
    assert_list(scene.box, "", NULL, "");
}

static void refuses_a_link_that_leads_nowhere(void **state)
{
    struct store store = { .reads = 0 };
    struct box *box = *state;
    const struct al_blob_source source = { store_read, &store };
    char path[] = "l";
    const struct al_sandbox_file file = { .path = path,
                                          .mode = AL_SANDBOX_MODE_LINK,
                                          .oid = stored_oid(0) };
    struct al_error err = AL_ERROR_INIT;

    assert_failed(import_from(box->sandbox, &file, 1, &source, &err), &err, AL_ERR_EXECUTION,
                  "Invalid argument");
    assert_list(box, "", NULL, "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(shows_no_file_in_part),
        TEST(keeps_the_old_file_until_the_new_one_is_complete),
        TEST(leaves_nothing_of_a_file_that_failed),
        TEST(takes_the_place_of_no_file_when_it_is_new),
        TEST(replaces_a_file_or_a_link_otherwise),
        TEST(makes_a_directory_again_that_another_call_removed),
        TEST(makes_no_git_directory),
        TEST(has_the_mode_of_the_store),
        TEST(limits_one_file),
        TEST(refuses_a_link_that_leads_nowhere),
    };

    return cmocka_run_group_tests_name("sandbox/directory_import", tests, NULL, NULL);
}
