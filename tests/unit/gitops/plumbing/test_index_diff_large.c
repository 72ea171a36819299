// SPDX-License-Identifier: Apache-2.0
/* gitops/plumbing/index_diff.h: an index that is read by several threads. */
#include <sys/stat.h>
#include <unistd.h>

#include "proc/cancel.h"
#include "tests/unit/gitops/plumbing/index_diff_lib.h"

#define LARGE (AL_INDEX_DIFF_ENTRIES_MAX + 64u)

static char *large_name(unsigned i)
{
    return al_asprintf("large%02u/file%u", i % 50, i);
}

static void begin_large(struct world *w)
{
    begin(w);
    for (unsigned i = 0; i < LARGE; i++) {
        al_auto(al_freep) char *name = large_name(i);

        tmpdir_write(w->repo, name, "one\n");
    }
    git_ok(w->repo, "add", "-A", NULL);
    git_ok(w->repo, "commit", "-q", "-m", "large", NULL);
    make_old(w);
}

/* The same length and the same time of the last write. */
static void change_quietly(struct world *w, const char *name)
{
    struct stat st;

    assert_int_equal(fstatat(w->repo->fd, name, &st, 0), 0);
    tmpdir_write(w->repo, name, "two\n");
    assert_int_equal(utimensat(w->repo->fd, name, (struct timespec[]){ st.st_atim, st.st_mtim }, 0),
                     0);
}

/* Git may compare whole seconds, and then sees less. */
static void assert_count(struct world *w, size_t count)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    assert_has_all(w, false);
    assert_true(differing(w, &names));
    assert_int_equal(names.count, count);
}

static void compare_versions(struct world *w)
{
    static const char *const versions[] = { "2", "4" };

    for (size_t v = 0; v < COUNT(versions); v++) {
        git_ok(w->repo, "update-index", "--index-version", versions[v], NULL);
        make_old(w);
        assert_count(w, 0);
        change_quietly(w, "a.txt"); /* the first entry, and the last one */
        change_quietly(w, "large49/file99");
        for (unsigned i = 0; i < LARGE; i += 500) {
            al_auto(al_freep) char *name = large_name(i);

            change_quietly(w, name);
        }
        assert_count(w, 2 + LARGE / 500 + 1);
        assert_int_equal(unlinkat(w->repo->fd, "large07/file7", 0), 0);
        assert_count(w, 2 + LARGE / 500 + 1 + 1);
        make_old(w); /* git sees all of them now */
        git_ok(w->repo, "reset", "-q", "--hard", NULL);
    }
}

/* As old as the index: the stat data of the entry say nothing. */
static void compare_racy_files(struct world *w)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct stat st;

    make_old(w);
    assert_int_equal(fstatat(w->repo->fd, "large07/file7", &st, 0), 0);
    assert_int_equal(
        utimensat(w->repo->fd, ".git/index", (struct timespec[]){ st.st_mtim, st.st_mtim }, 0), 0);
    assert_false(differing(w, &names)); /* all are, and too many to be read */
    make_old(w);
    assert_int_equal(fstatat(w->repo->fd, ".git/index", &st, 0), 0);
    tmpdir_write(w->repo, "large07/file7", "new\n");
    assert_int_equal(
        utimensat(w->repo->fd, "large07/file7", (struct timespec[]){ st.st_mtim, st.st_mtim }, 0),
        0);
    assert_count(w, 1);
}

static void lists_what_changed_in_a_large_index(void **state)
{
    struct world *w = *state;

    begin_large(w);
    compare_versions(w);
    compare_racy_files(w);
    make_old(w);
    assert_int_equal(renameat(w->repo->fd, "dir1", w->repo->fd, "elsewhere"), 0);
    assert_has_all(w, true);
    assert_int_equal(symlinkat("elsewhere", w->repo->fd, "dir1"), 0); /* the files are not there */
    assert_has_all(w, true);
}

static void compare_other_indexes(struct world *w)
{
    static const char *const commands[][4] = {
        { "rm", "-q", "--cached", "a.txt" }, /* differs from the commit */
        { "update-index", "--add", "--cacheinfo",
          "160000,1111111111111111111111111111111111111111,sub" },
        { "update-index", "--split-index", NULL, NULL },
    };

    for (size_t i = 0; i < COUNT(commands); i++) {
        const char *const *words = commands[i];
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

        assert_has_all(w, true);
        git_ok(w->repo, words[0], words[1], words[2], words[3], NULL);
        assert_false(differing(w, &names));
        assert_int_equal(names.count, 0);
        git_ok(w->repo, "update-index", "--no-split-index", NULL);
        git_ok(w->repo, "read-tree", "HEAD", NULL);
        make_old(w);
    }
}

/* The threads count their changes together. */
static void compare_many_changes(struct world *w)
{
    for (unsigned count = 0; count <= AL_INDEX_DIFF_FILES_MAX + 1; count++) {
        al_auto(al_freep) char *name = large_name(count * 61);
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

        if (count >= AL_INDEX_DIFF_FILES_MAX - 1)
            assert_int_equal(differing(w, &names), count <= AL_INDEX_DIFF_FILES_MAX);
        tmpdir_write(w->repo, name, "two and more\n");
    }
}

static void compare_late(struct world *w)
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    assert_false(differing_within(w, (struct al_run_limits){ .left_ms = 0 }, &names));
    assert_true(
        differing_within(w, (struct al_run_limits){ .left_ms = 60000, .cancel = cancel }, &names));
    al_cancel_fire(cancel);
    assert_false(
        differing_within(w, (struct al_run_limits){ .left_ms = 60000, .cancel = cancel }, &names));
    assert_int_equal(names.count, 0);
}

static void leaves_other_large_indexes_to_git(void **state)
{
    struct world *w = *state;

    begin_large(w);
    compare_other_indexes(w);
    compare_late(w);
    compare_many_changes(w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(lists_what_changed_in_a_large_index),
        WORLD_TEST(leaves_other_large_indexes_to_git),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/plumbing/index_diff_large", tests, NULL, NULL);
}
