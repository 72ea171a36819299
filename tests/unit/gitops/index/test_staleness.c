// SPDX-License-Identifier: Apache-2.0
/* gitops/index/staleness.h: files that git would read again are counted, changed ones are not. */
#include "gitops/index/staleness.h"

#include <time.h>

#include "tests/unit/gitops/lib.h"

#define FILES 200

static bool is_most; /* of the last call below */

static size_t stale(struct world *w)
{
    al_auto(al_closep) int fd = openat(w->repo->fd, ".git/index", O_RDONLY | O_CLOEXEC);
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    return al_index_stale_entries(fd, &st, w->repo->fd, false, &is_most);
}

static void set_times(struct world *w, const char *name, int64_t seconds)
{
    const struct timespec times[] = { { .tv_sec = seconds }, { .tv_sec = seconds } };

    assert_int_equal(utimensat(w->repo->fd, name, times, 0), 0);
}

static void set_all_times(struct world *w, size_t from, size_t to, int64_t seconds)
{
    for (size_t i = from; i < to; i++) {
        al_auto(al_freep) char *name = al_asprintf("f%03zu", i);

        set_times(w, name, seconds);
    }
}

/* A repository of FILES files that are older than their index. */
static void make(struct world *w)
{
    git_ok(w->repo, "rm", "-q", "a.txt", NULL);
    for (size_t i = 0; i < FILES; i++) {
        al_auto(al_freep) char *name = al_asprintf("f%03zu", i);

        tmpdir_write(w->repo, name, "content\n");
    }
    set_all_times(w, 0, FILES, 1600000000);
    git_ok(w->repo, "add", "-A", NULL);
}

static void counts_what_git_would_read(void **state)
{
    struct world *w = *state;

    make(w);
    assert_int_equal(stale(w), 0);
    assert_false(is_most);
    set_all_times(w, 0, FILES, 1600000001);
    assert_int_equal(stale(w), FILES);
    assert_true(is_most);
    git_ok(w->repo, "update-index", "-q", "--refresh", NULL);
    assert_int_equal(stale(w), 0);
    set_all_times(w, 0, FILES / 2, 1600000002);
    assert_in_range(stale(w), FILES / 2 - FILES / 10, FILES / 2 + FILES / 10);
    set_all_times(w, 0, FILES * 6 / 10, 1600000003);
    (void)stale(w);
    assert_true(is_most);
    git_ok(w->repo, "update-index", "-q", "--refresh", NULL);
    set_all_times(w, 0, FILES * 4 / 10, 1600000004);
    (void)stale(w);
    assert_false(is_most);
}

static void counts_files_as_young_as_the_index(void **state)
{
    struct world *w = *state;

    make(w);
    set_times(w, ".git/index", 1600000001);
    assert_int_equal(stale(w), 0);
    set_times(w, ".git/index", 1600000000);
    assert_int_equal(stale(w), FILES);
}

static void leaves_out_what_changed_or_is_not_there(void **state)
{
    struct world *w = *state;

    make(w);
    for (size_t i = 0; i < FILES; i++) {
        al_auto(al_freep) char *name = al_asprintf("f%03zu", i);

        if (i % 2)
            assert_int_equal(unlinkat(w->repo->fd, name, 0), 0);
        else
            tmpdir_write(w->repo, name, "another size\n");
    }
    assert_int_equal(stale(w), 0);
}

static void an_index_it_does_not_understand_counts_nothing(void **state)
{
    struct world *w = *state;

    make(w);
    set_all_times(w, 0, FILES, 1600000001);
    assert_int_equal(stale(w), FILES);
    git_ok(w->repo, "update-index", "--index-version", "4", NULL);
    set_all_times(w, 0, FILES, 1600000002);
    assert_int_equal(stale(w), FILES);
    tmpdir_write(w->repo, ".git/index", "DIRC");
    assert_int_equal(stale(w), 0);
    tmpdir_write(w->repo, ".git/index", "");
    assert_int_equal(stale(w), 0);
    assert_int_equal(unlinkat(w->repo->fd, ".git/index", 0), 0);
    git_ok(w->repo, "read-tree", "--empty", NULL);
    assert_int_equal(stale(w), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(counts_what_git_would_read),
        WORLD_TEST(counts_files_as_young_as_the_index),
        WORLD_TEST(leaves_out_what_changed_or_is_not_there),
        WORLD_TEST(an_index_it_does_not_understand_counts_nothing),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
