// SPDX-License-Identifier: Apache-2.0
/* sandbox/directory_import.c: a directory that is made as a whole. */
#include "tests/unit/sandbox/import_lib.h"

/* The name that the directory has until it is complete.  Caller frees. */
static char *find_new_dir(const struct scene *scene)
{
    al_auto(al_freep) char *path = tmpdir_path(scene->box->dir, "ws");
    al_auto(al_closedirp) DIR *dir = opendir(path);
    struct dirent *entry;

    while ((entry = readdir(dir)))
        if (al_starts_with(entry->d_name, ".airlock-dir-"))
            return al_asprintf("ws/%s", entry->d_name);
    return NULL;
}

static void assert_no_new_dir(const struct scene *scene)
{
    al_auto(al_freep) char *name = find_new_dir(scene);

    assert_null(name);
}

static void assert_not_shown(struct scene *scene)
{
    al_auto(al_freep) char *name = find_new_dir(scene);

    assert_non_null(name);
    assert_list(scene->box, "", NULL, "a c/d");
}

static void shows_a_new_directory_when_it_is_complete(void **state)
{
    struct scene scene = { .box = *state,
                           .paths = { "a", "c/d", "c0/a", "c0/b/x/y", "c0/b/z" },
                           .count = 5,
                           .is_new = true,
                           .at = 4,
                           .happens = assert_not_shown };
    mode_t before = umask(027);
    struct stat st;

    assert_imports(&scene);
    (void)umask(before);
    assert_list(scene.box, "", NULL, "a c/d c0/a c0/b/x/y c0/b/z");
    assert_content(scene.box, "c0/b/x/y", "content");
    assert_int_equal(fstatat(scene.box->dir->fd, "ws/c0", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(fstatat(scene.box->dir->fd, "ws/c0/b/z", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_no_new_dir(&scene);
}

static void makes_links_in_a_new_directory(void **state)
{
    struct scene scene = { .box = *state,
                           .paths = { "d/a", "d/e/b" },
                           .count = 2,
                           .is_new = true,
                           .mode = AL_SANDBOX_MODE_LINK };

    assert_imports(&scene);
    assert_snapshot(scene.box, "120000 d/a, 120000 d/e/b");
}

static void leaves_nothing_of_a_directory_that_failed(void **state)
{
    struct scene scene = { .box = *state,
                           .paths = { "d/a", "d/e/b", "d/e/c" },
                           .count = 3,
                           .is_new = true,
                           .at = 2,
                           .fails = true };

    assert_refuses(&scene, AL_ERR_EXECUTION, "the store fails");
    assert_list(scene.box, "", NULL, "");
    assert_false(is_there(scene.box, "ws/d"));
    assert_no_new_dir(&scene);
}

static void make_other_file(struct scene *scene)
{
    tmpdir_write(scene->box->dir, "ws/d/e/mine", "mine");
}

static void make_empty_directory(struct scene *scene)
{
    tmpdir_mkdir(scene->box->dir, "ws/d");
}

static void goes_into_a_directory_that_was_made_meanwhile(void **state)
{
    static void (*const ways[])(struct scene *) = { make_other_file, make_empty_directory };

    for (size_t i = 0; i < COUNT(ways); i++) {
        struct scene scene = { .box = *state,
                               .paths = { "d/a", "d/e/b" },
                               .count = 2,
                               .is_new = true,
                               .at = i,
                               .happens = ways[i] };

        assert_imports(&scene);
        assert_list(scene.box, "", NULL, i ? "d/a d/e/b" : "d/a d/e/b d/e/mine");
        assert_content(scene.box, "d/e/b", "content");
        assert_no_new_dir(&scene);
        assert_int_equal(
            renameat(scene.box->dir->fd, "ws/d", scene.box->dir->fd, i ? "two" : "one"), 0);
    }
}

static void make_top_file(struct scene *scene)
{
    tmpdir_write(scene->box->dir, "ws/d", "mine");
}

static void make_top_link(struct scene *scene)
{
    tmpdir_mkdir(scene->box->dir, "outside");
    tmpdir_symlink(scene->box->dir, "../outside", "ws/d");
}

static void takes_the_place_of_nothing_at_the_top(void **state)
{
    static void (*const ways[])(struct scene *) = { make_top_file, make_top_link };
    static const char *const words[] = { "is a file and no directory", "is a symbolic link" };

    for (size_t i = 0; i < COUNT(ways); i++) {
        struct scene scene = { .box = *state,
                               .paths = { "d/a", "d/b" },
                               .count = 2,
                               .is_new = true,
                               .at = 1,
                               .happens = ways[i] };
        struct stat st;

        assert_refuses(&scene, i ? AL_ERR_SANDBOX : AL_ERR_EXECUTION, words[i]);
        assert_int_equal(fstatat(scene.box->dir->fd, "ws/d", &st, AT_SYMLINK_NOFOLLOW), 0);
        assert_int_equal(st.st_mode & S_IFMT, i ? S_IFLNK : S_IFREG);
        assert_no_new_dir(&scene);
        assert_int_equal(unlinkat(scene.box->dir->fd, "ws/d", 0), 0);
    }
    assert_false(is_there(*state, "outside/a"));
}

static void swap_for_link(struct scene *scene)
{
    al_auto(al_freep) char *name = find_new_dir(scene);
    al_auto(al_freep) char *inner = al_asprintf("%s/e", name);

    tmpdir_mkdir(scene->box->dir, "outside");
    assert_int_equal(renameat(scene->box->dir->fd, inner, scene->box->dir->fd, "moved"), 0);
    tmpdir_symlink(scene->box->dir, "../../outside", inner);
}

static void swap_top_for_link(struct scene *scene)
{
    al_auto(al_freep) char *name = find_new_dir(scene);

    tmpdir_mkdir(scene->box->dir, "outside");
    assert_int_equal(renameat(scene->box->dir->fd, name, scene->box->dir->fd, "moved"), 0);
    tmpdir_symlink(scene->box->dir, "../outside", name);
}

/* Neither written nor moved through. */
static void follows_no_link_in_a_new_directory(void **state)
{
    static void (*const ways[])(struct scene *) = { swap_for_link, swap_top_for_link };

    for (size_t i = 0; i < 2 * COUNT(ways); i++) {
        struct scene scene = {
            .box = *state, .count = FILES_MAX, .is_new = true, .happens = ways[i / 2]
        };
        al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        for (size_t j = 0; j < FILES_MAX; j++) {
            al_strv_addf(&paths, "d/e/%03zu", j);
            scene.paths[j] = paths.items[j];
        }
        scene.at = i % 2 ? FILES_MAX - 1 : 0;
        (void)import(&scene, &err);
        assert_true(is_there(scene.box, i / 2 ? "moved/e/000" : "moved/000"));
        assert_int_equal(unlinkat(scene.box->dir->fd, "outside", AT_REMOVEDIR), 0);
        assert_int_equal(renameat(scene.box->dir->fd, "moved", scene.box->dir->fd,
                                  paths.items[i] + strlen("d/e/")),
                         0);
        if (is_there(scene.box, "ws/d"))
            assert_int_equal(renameat(scene.box->dir->fd, "ws/d", scene.box->dir->fd,
                                      paths.items[i + 10] + strlen("d/e/")),
                             0);
    }
}

static void makes_no_git_directory_in_a_new_directory(void **state)
{
    static const char *const orders[][4] = {
        { "g/objects/x", "g/refs/x", "g/z", "g/HEAD" },
        { "g/HEAD", "g/a", "g/b", "g/commondir" },
        { "g/HEAD", "g/b", "g/objects/x", "g/refs/x" },
        { "g/h/HEAD", "g/h/b", "g/h/objects/x", "g/h/Refs/x" },
    };

    for (size_t i = 0; i < COUNT(orders); i++) {
        struct scene scene = { .box = *state, .count = 4, .is_new = true };

        memcpy(scene.paths, orders[i], sizeof(orders[i]));
        assert_refuses(&scene, AL_ERR_SANDBOX, orders[i][3]);
        assert_list(scene.box, "", NULL, "");
        assert_no_new_dir(&scene);
    }
}

/* The directory itself is the last part of one. */
static void makes_no_new_directory_that_completes_a_git_directory(void **state)
{
    struct scene scene = { .box = *state, .paths = { "refs/x" }, .count = 1, .is_new = true };

    tmpdir_write(scene.box->dir, "ws/HEAD", "x");
    tmpdir_mkdir(scene.box->dir, "ws/objects");
    assert_refuses(&scene, AL_ERR_SANDBOX, "Protected path: refs/x");
    assert_false(is_there(scene.box, "ws/refs"));
    assert_no_new_dir(&scene);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(shows_a_new_directory_when_it_is_complete),
        TEST(makes_links_in_a_new_directory),
        TEST(leaves_nothing_of_a_directory_that_failed),
        TEST(goes_into_a_directory_that_was_made_meanwhile),
        TEST(takes_the_place_of_nothing_at_the_top),
        TEST(follows_no_link_in_a_new_directory),
        TEST(makes_no_git_directory_in_a_new_directory),
        TEST(makes_no_new_directory_that_completes_a_git_directory),
    };

    return cmocka_run_group_tests_name("sandbox/directory_import_new", tests, NULL, NULL);
}
