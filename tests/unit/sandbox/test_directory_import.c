// SPDX-License-Identifier: Apache-2.0
/* sandbox/directory_import.c: files that are written while their content arrives. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/sandbox/sandbox_lib.h"
#include "util/fs.h"

#define FILES_MAX 200

/* A store whose objects all have the text "content".  Something happens before its last piece. */
struct scene {
    struct box *box;
    const char *paths[FILES_MAX];
    size_t count;
    unsigned mode;
    bool is_new;
    size_t at; /* the file at which it happens */
    void (*happens)(struct scene *);
    bool fails;    /* the store, at that point */
    size_t length; /* of the objects; 0: as the text */
};

static int give(void *payload, const char *const *oids, size_t count, al_blob_take *take,
                void *take_payload, struct al_error *err)
{
    struct scene *scene = payload;
    al_auto(al_freep) char *text = scene->length ? al_malloc(scene->length + 1) : NULL;
    size_t length = scene->length ? scene->length : 7;
    int r = 0;

    (void)oids;
    if (text)
        memset(text, 'x', length);
    for (size_t i = 0; i < count && r == 0; i++) {
        r = take(take_payload, i, text ? text : "content", length - 3, false, err);
        if (r == 0 && i == scene->at && scene->happens)
            scene->happens(scene);
        if (r == 0 && i == scene->at && scene->fails)
            return al_error_set(err, AL_ERR_EXECUTION, "the store fails");
        if (r == 0)
            r = take(take_payload, i, text ? text : "ent", 3, false, err);
        if (r == 0)
            r = take(take_payload, i, "", 0, true, err);
    }
    return r;
}

static int import(struct scene *scene, struct al_error *err)
{
    const struct al_blob_source source = { give, scene };
    struct al_sandbox_file files[FILES_MAX];

    for (size_t i = 0; i < scene->count; i++)
        files[i] =
            (struct al_sandbox_file){ .path = (char *)(uintptr_t)scene->paths[i],
                                      .mode = scene->mode ? scene->mode : AL_SANDBOX_MODE_FILE,
                                      .is_new = scene->is_new };
    return al_sandbox_import(scene->box->sandbox, files, scene->count, &source, err);
}

static void assert_imports(struct scene *scene)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r = import(scene, &err);

    if (r < 0)
        fail_msg("%s", err.message);
}

static void assert_refuses(struct scene *scene, int status, const char *words)
{
    struct al_error err = AL_ERROR_INIT;

    assert_failed(import(scene, &err), &err, status, words);
}

static bool is_there(const struct box *box, const char *name)
{
    struct stat st;

    return fstatat(box->dir->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

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

static void move_directory(struct scene *scene)
{
    assert_int_equal(renameat(scene->box->dir->fd, "ws/d", scene->box->dir->fd, "moved"), 0);
}

/* The directory of the files before is looked up again now and then. */
static void comes_back_to_a_directory_that_was_replaced(void **state)
{
    struct scene scene = { .box = *state, .count = FILES_MAX, .happens = move_directory };
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    for (size_t i = 0; i < FILES_MAX; i++) {
        al_strv_addf(&paths, "d/%03zu", i);
        scene.paths[i] = paths.items[i];
    }
    assert_imports(&scene);
    assert_true(is_there(scene.box, "moved/000"));
    assert_false(is_there(scene.box, "moved/100"));
    assert_true(is_there(scene.box, "ws/d/100"));
    assert_content(scene.box, "d/199", "content");
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

/* --- A directory that is made as a whole --- */

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

    assert_failed(al_sandbox_import(box->sandbox, &file, 1, &source, &err), &err, AL_ERR_EXECUTION,
                  "Invalid argument");
    assert_list(box, "", NULL, "");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup_directory, box_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(shows_no_file_in_part),
        TEST(keeps_the_old_file_until_the_new_one_is_complete),
        TEST(leaves_nothing_of_a_file_that_failed),
        TEST(takes_the_place_of_no_file_when_it_is_new),
        TEST(replaces_a_file_or_a_link_otherwise),
        TEST(makes_a_directory_again_that_another_call_removed),
        TEST(comes_back_to_a_directory_that_was_replaced),
        TEST(makes_no_git_directory),
        TEST(shows_a_new_directory_when_it_is_complete),
        TEST(makes_links_in_a_new_directory),
        TEST(leaves_nothing_of_a_directory_that_failed),
        TEST(goes_into_a_directory_that_was_made_meanwhile),
        TEST(takes_the_place_of_nothing_at_the_top),
        TEST(follows_no_link_in_a_new_directory),
        TEST(makes_no_git_directory_in_a_new_directory),
        TEST(makes_no_new_directory_that_completes_a_git_directory),
        TEST(has_the_mode_of_the_store),
        TEST(limits_one_file),
        TEST(refuses_a_link_that_leads_nowhere),
    };

    return cmocka_run_group_tests_name("sandbox/directory_import", tests, NULL, NULL);
}
