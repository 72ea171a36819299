// SPDX-License-Identifier: Apache-2.0
/* checkpoint/worktree.h: files are read into a store as git would store them, and what is no file
 * below the top is passed over. */
#include "checkpoint/worktree.h"

#include <sys/stat.h>

#include "tests/lib/assert.h"
#include "tests/lib/git_fixture.h"
#include "tests/unit/gitops/lib.h"

#define MAX_BYTES (1u << 20)

struct tree_world {
    struct tmpdir *home, *top, *bare, *packs;
    struct al_file_list names;
    struct al_objects objects;
    struct al_stat_cache cache;
    struct al_worktree_files files;
    struct al_run_limits limits;
    uint64_t max_file_bytes, max_store_bytes;
    bool changed;
    struct al_error err;
};

static int setup(void **state)
{
    struct tree_world *w = al_calloc(1, sizeof(*w));

    w->home = tmpdir_new();
    w->top = tmpdir_new();
    w->bare = tmpdir_new();
    git_fixture_environment(w->home);
    git_fixture_init(w->top);
    git_ok(w->bare, "init", "-q", "--bare", NULL);
    w->packs = subdir_open(w->bare, "objects/pack");
    w->names = AL_FILE_LIST_INIT;
    w->cache = AL_STAT_CACHE_INIT;
    al_objects_init(&w->objects, w->packs->fd, -1, false);
    w->limits = (struct al_run_limits){ .left_ms = LONG_MS };
    w->max_file_bytes = w->max_store_bytes = MAX_BYTES;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct tree_world *w = *state;

    al_worktree_files_clear(&w->files);
    al_objects_clear(&w->objects);
    al_file_list_clear(&w->names);
    al_stat_cache_clear(&w->cache);
    al_error_clear(&w->err);
    subdir_close(w->packs);
    tmpdir_free(w->bare);
    tmpdir_free(w->top);
    tmpdir_free(w->home);
    free(w);
    return 0;
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* A name the index or the disk would have given; names come in order. */
static void name(struct tree_world *w, const char *path)
{
    (void)al_file_list_add(&w->names, path, strlen(path));
}

static void add_file(struct tree_world *w, const char *path, const char *text)
{
    tmpdir_write(w->top, path, text);
    name(w, path);
}

static void fill(struct tree_world *w, const char *path, size_t len)
{
    al_auto(al_freep) char *bytes = al_calloc(1, len + 1);

    tmpdir_write_bytes(w->top, path, bytes, len);
}

static int try_read(struct tree_world *w)
{
    struct al_deadline deadline = al_deadline_begin(&w->limits);

    al_worktree_files_clear(&w->files);
    al_error_clear(&w->err);
    return al_worktree_read(
        &(struct al_worktree_source){
            .top_fd = w->top->fd,
            .top = w->top->path,
            .names = &w->names,
            .max_file_bytes = w->max_file_bytes,
            .max_store_bytes = w->max_store_bytes,
            .objects = &w->objects,
            .cache = &w->cache,
            .changed = &w->changed,
            .deadline = &deadline,
        },
        &w->files, &w->err);
}

static void read_all(struct tree_world *w)
{
    int r = try_read(w);

    if (r < 0)
        print_message("# %s\n", w->err.message);
    assert_int_equal(r, 0);
}

/* "<path>\n" of every file that was read, then "-<path>\n" of every one that was left out. */
static void assert_read(struct tree_world *w, const char *expected)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < w->files.count; i++)
        al_str_addf(&text, "%s\n", w->files.files[i].path);
    for (size_t i = 0; i < w->files.left_out.count; i++)
        al_str_addf(&text, "-%s\n", w->files.left_out.items[i]);
    assert_string_equal(text.buf ? text.buf : "", expected);
}

/* The tree of what was read, as text. */
static void put_tree(struct tree_world *w, char ret_id[AL_OID_TEXT])
{
    struct al_oid oid;

    assert_int_equal(al_tree_put(&w->objects, w->files.files, w->files.count, &oid, &w->err), 0);
    assert_int_equal(al_objects_finish(&w->objects, &w->err), 0);
    al_oid_text(&oid, false, ret_id);
}

static void makes_the_tree_that_git_would(void **state)
{
    struct tree_world *w = *state;
    al_auto(al_freep) char *gits = NULL, *said = NULL;
    char ours[AL_OID_TEXT];

    add_file(w, "a", "one\n");
    add_file(w, "dir-file", "before dir/ in a tree\n");
    add_file(w, "dir.file", "before dir/ as well\n");
    add_file(w, "dir/deep/file", "deep\n");
    add_file(w, "dir/file", "");
    add_file(w, "dir0", "behind dir/\n");
    fill(w, "large", 300000);
    name(w, "large");
    tmpdir_symlink(w->top, "/etc/passwd", "link");
    name(w, "link");
    add_file(w, "not\xffutf8", "odd name\n");
    add_file(w, "run", "#!/bin/sh\n");
    assert_int_equal(fchmodat(w->top->fd, "run", 0755, 0), 0);
    tmpdir_symlink(w->top, "dir", "to-dir");
    name(w, "to-dir");
    read_all(w);
    put_tree(w, ours);
    git_ok(w->top, "add", "-A", NULL);
    gits = git_output(w->top, "write-tree", NULL);
    gits[strcspn(gits, "\n")] = '\0';
    assert_string_equal(ours, gits);
    said = git_output(w->bare, "ls-tree", "-r", "--name-only", ours, NULL);
    assert_non_null(strstr(said, "dir/deep/file\n")); /* and the store has it */
}

static void keeps_the_permissions_that_a_tree_has_not(void **state)
{
    struct tree_world *w = *state;

    add_file(w, "secret", "hush\n");
    assert_int_equal(fchmodat(w->top->fd, "secret", 0600, 0), 0);
    read_all(w);
    assert_int_equal(w->files.files[0].mode, S_IFREG | 0600);
}

static void passes_over_what_is_gone(void **state)
{
    struct tree_world *w = *state;

    name(w, "gone");
    add_file(w, "here", "x");
    name(w, "no-dir/gone");
    read_all(w);
    assert_read(w, "here\n");
}

/* A test that waits for a writer of the fifo never ends. */
static void passes_over_what_is_no_file(void **state)
{
    struct tree_world *w = *state;

    tmpdir_mkdir(w->top, "a-directory");
    name(w, "a-directory");
    assert_int_equal(mkfifoat(w->top->fd, "b-fifo", 0600), 0);
    name(w, "b-fifo");
    add_file(w, "c-file", "x");
    name(w, "c-file/below");
    read_all(w);
    assert_read(w, "c-file\n");
}

static void never_goes_through_a_link(void **state)
{
    struct tree_world *w = *state;
    al_auto(al_freep) char *target = tmpdir_path(w->home, "dir");

    tmpdir_write(w->home, "dir/file", "outside\n");
    tmpdir_symlink(w->top, w->home->path, "a");
    name(w, "a/dir/file");
    tmpdir_mkdir(w->top, "b");
    tmpdir_symlink(w->top, target, "b/dir");
    name(w, "b/dir/file");
    add_file(w, "c", "x");
    read_all(w);
    assert_read(w, "c\n");
}

static void leaves_out_a_file_above_the_limit(void **state)
{
    struct tree_world *w = *state;
    static const size_t limits[] = { 1000, 200000 }; /* read at once, and in pieces */

    name(w, "file");
    for (size_t i = 0; i < COUNT(limits); i++) {
        w->max_file_bytes = limits[i];
        for (size_t len = limits[i] - 1; len <= limits[i] + 1; len++) {
            fill(w, "file", len);
            read_all(w);
            assert_read(w, len <= limits[i] ? "file\n" : "-file\n");
        }
    }
}

static void refuses_what_never_fits_into_the_store(void **state)
{
    struct tree_world *w = *state;
    al_auto(al_freep) char *bytes = al_malloc(300000);
    uint32_t noise = 1;

    for (size_t i = 0; i < 300000; i++) {
        noise = noise * 1664525u + 1013904223u;
        bytes[i] = (char)(noise >> 24);
    }
    tmpdir_write_bytes(w->top, "noise", bytes, 300000);
    name(w, "noise");
    w->max_store_bytes = 250000;
    assert_int_equal(try_read(w), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "larger than journal.max_store_bytes (250000)"));
    w->max_store_bytes = 400000;
    al_objects_clear(&w->objects);
    al_objects_init(&w->objects, w->packs->fd, -1, false);
    read_all(w);
    assert_read(w, "noise\n");
}

static void stops_at_the_deadline_with_what_was_read(void **state)
{
    struct tree_world *w = *state;

    add_file(w, "a", "x");
    fill(w, "large", 300000); /* the clock is looked at for each piece */
    name(w, "large");
    w->limits.left_ms = 0;
    assert_int_equal(try_read(w), AL_ERR_TIMEOUT);
    assert_read(w, "a\n");
}

static void writes_each_content_once(void **state)
{
    struct tree_world *w = *state;
    char id[AL_OID_TEXT];
    al_auto(al_freep) char *counted = NULL;

    add_file(w, "a", "same\n");
    add_file(w, "b", "same\n");
    fill(w, "c", 300000);
    name(w, "c");
    fill(w, "d", 300000);
    name(w, "d");
    read_all(w);
    put_tree(w, id);
    counted = git_output(w->bare, "count-objects", "-v", NULL);
    assert_non_null(strstr(counted, "in-pack: 3\n")); /* two blobs and the tree */
}

static void says_that_something_changed(void **state)
{
    struct tree_world *w = *state;

    read_all(w); /* no names, none seen before */
    assert_false(w->changed);
    name(w, "gone");
    read_all(w);
    assert_false(w->changed);
    add_file(w, "new", "x");
    read_all(w);
    assert_true(w->changed);
}

/* The tree changed while it was read: a path is a file first and a directory then. */
static void makes_no_tree_of_a_path_that_is_a_file_and_a_directory(void **state)
{
    static const struct {
        const char *paths[4];
        int status;
    } rows[] = {
        { { "a", "a/b" }, AL_ERR_AGAIN },
        { { "a", "a-b", "a/b" }, AL_ERR_AGAIN },
        { { "d/a", "d/a.c", "d/a/b" }, AL_ERR_AGAIN },
        { { "a-b", "a/b", "ab" }, 0 },
        { { "a", "ab/c" }, 0 },
        { { "d/a", "e/a/b" }, 0 },
        { { NULL }, 0 },
    };
    struct tree_world *w = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_tree_file files[4];
        struct al_oid oid;
        size_t count = 0;

        for (; count < 4 && rows[i].paths[count]; count++)
            files[count] = (struct al_tree_file){ .path = rows[i].paths[count],
                                                  .mode = S_IFREG | 0644,
                                                  .oid = { .bytes = { 1 } } };
        assert_int_equal(al_tree_put(&w->objects, files, count, &oid, &w->err), rows[i].status);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TREE_TEST(makes_the_tree_that_git_would),
        TREE_TEST(keeps_the_permissions_that_a_tree_has_not),
        TREE_TEST(passes_over_what_is_gone),
        TREE_TEST(passes_over_what_is_no_file),
        TREE_TEST(never_goes_through_a_link),
        TREE_TEST(leaves_out_a_file_above_the_limit),
        TREE_TEST(refuses_what_never_fits_into_the_store),
        TREE_TEST(stops_at_the_deadline_with_what_was_read),
        TREE_TEST(writes_each_content_once),
        TREE_TEST(says_that_something_changed),
        TREE_TEST(makes_no_tree_of_a_path_that_is_a_file_and_a_directory),
    };

    return cmocka_run_group_tests_name("checkpoint/worktree", tests, NULL, NULL);
}
