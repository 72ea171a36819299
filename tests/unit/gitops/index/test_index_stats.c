// SPDX-License-Identifier: Apache-2.0
/* gitops/index/index_stats.h: only what airlock's own git saw is believed. */
#include "gitops/index/index_stats.h"

#include <stdio.h>

#include "tests/unit/gitops/lib.h"

#define EARLY 1600000000
#define LATE  1600000100

static void set_times(struct world *w, const char *name, int64_t seconds)
{
    const struct timespec times[] = { { .tv_sec = seconds }, { .tv_sec = seconds } };

    assert_int_equal(utimensat(w->repo->fd, name, times, 0), 0);
}

/* A file in the index of the repository. */
static void add(struct world *w, const char *name, const char *text)
{
    tmpdir_write(w->repo, name, text);
    set_times(w, name, EARLY);
    git_ok(w->repo, "add", name, NULL);
}

static void keep(struct world *w, const char *name)
{
    al_auto(al_str_clear) struct al_str raw = AL_STR_INIT;

    assert_int_equal(al_fs_read(w->repo->fd, ".git/index", 1u << 20, &raw), 0);
    tmpdir_write_bytes(w->repo, name, raw.buf, raw.len);
    set_times(w, name, LATE);
}

static int set_stats(struct world *w, const char *to, const char *from)
{
    al_auto(al_closep) int to_fd = openat(w->repo->fd, to, O_RDWR | O_CLOEXEC);
    al_auto(al_closep) int from_fd = from ? openat(w->repo->fd, from, O_RDONLY | O_CLOEXEC) : -1;

    return al_index_set_stats(to_fd, from_fd, false);
}

/* The lines that git prints of an entry's stat data, or of all. */
static char *listed(struct world *w, const char *index, const char *name)
{
    al_auto(al_freep) char *path = tmpdir_path(w->repo, index);
    char *text;

    assert_int_equal(setenv("GIT_INDEX_FILE", path, 1), 0);
    text = git_output(w->repo, "ls-files", "--stage", "--debug", "--", name, NULL);
    assert_int_equal(unsetenv("GIT_INDEX_FILE"), 0);
    return text;
}

static bool is_blank(struct world *w, const char *index, const char *name)
{
    al_auto(al_freep) char *text = listed(w, index, name);

    assert_non_null(strstr(text, name));
    return strstr(text, "ctime: 0:0") && strstr(text, "mtime: 0:0") && strstr(text, "ino: 0") &&
           strstr(text, "uid: 0");
}

static void assert_same(struct world *w, const char *a, const char *b, const char *name)
{
    al_auto(al_freep) char *one = listed(w, a, name);
    al_auto(al_freep) char *other = listed(w, b, name);

    assert_string_equal(one, other);
}

static void believes_nothing_without_an_earlier_one(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *text = NULL;

    add(w, "b.txt", "bb\n");
    for (int version = 2; version <= 4; version += 2) {
        git_ok(w->repo, "update-index", "--index-version", version == 2 ? "2" : "4", NULL);
        keep(w, "to");
        assert_int_equal(set_stats(w, "to", NULL), 0);
        assert_true(is_blank(w, "to", "a.txt") && is_blank(w, "to", "b.txt"));
        text = listed(w, "to", "b.txt");
        assert_non_null(strstr(text, "size: 3")); /* another size needs no look at the content */
        assert_non_null(strstr(text, "100644"));
        free(al_take(&text));
    }
}

static void takes_what_the_earlier_one_knows(void **state)
{
    struct world *w = *state;

    add(w, "b.txt", "b\n");
    add(w, "c.txt", "c\n");
    add(w, "e.txt", "e\n");
    keep(w, "from");
    add(w, "b.txt", "BB\n");                                      /* other content */
    git_ok(w->repo, "update-index", "--chmod=+x", "c.txt", NULL); /* another mode */
    add(w, "d.txt", "d\n");                                       /* new */
    git_ok(w->repo, "rm", "-q", "--cached", "a.txt", NULL);
    keep(w, "to");
    assert_int_equal(set_stats(w, "to", "from"), 0);
    assert_same(w, "to", "from", "e.txt");
    assert_false(is_blank(w, "to", "e.txt"));
    assert_true(is_blank(w, "to", "b.txt") && is_blank(w, "to", "c.txt") &&
                is_blank(w, "to", "d.txt"));
}

/* git would not have believed it there either. */
static void takes_nothing_as_young_as_the_earlier_one(void **state)
{
    static const struct {
        int64_t file, index;
        bool is_taken;
    } cases[] = { { LATE - 1, LATE, true }, { LATE, LATE, false }, { LATE + 1, LATE, false } };
    struct world *w = *state;

    for (size_t i = 0; i < AL_COUNT(cases); i++) {
        tmpdir_write(w->repo, "b.txt", "b\n");
        set_times(w, "b.txt", cases[i].file);
        git_ok(w->repo, "add", "b.txt", NULL);
        keep(w, "from");
        set_times(w, "from", cases[i].index);
        keep(w, "to");
        assert_int_equal(set_stats(w, "to", "from"), 0);
        assert_int_equal(!is_blank(w, "to", "b.txt"), cases[i].is_taken);
        git_ok(w->repo, "rm", "-q", "--cached", "b.txt", NULL);
    }
}

static void leaves_out_entries_that_are_no_files(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *head = git_output(w->repo, "rev-parse", "HEAD", NULL);
    al_auto(al_freep) char *link = al_asprintf("160000,%.40s,link", head);

    add(w, "skipped", "s\n");
    add(w, "wanted", "w\n");
    git_ok(w->repo, "update-index", "--skip-worktree", "skipped", NULL);
    git_ok(w->repo, "rm", "-q", "--cached", "wanted", NULL);
    git_ok(w->repo, "add", "-N", "wanted", NULL);
    git_ok(w->repo, "update-index", "--add", "--cacheinfo", link, NULL);
    add(w, "a.txt", "one\n");
    keep(w, "from");
    keep(w, "to");
    assert_int_equal(set_stats(w, "to", "from"), 0);
    assert_true(is_blank(w, "to", "skipped") && is_blank(w, "to", "wanted") &&
                is_blank(w, "to", "link"));
    assert_false(is_blank(w, "to", "a.txt"));
}

/* More entries than fit in one piece, half of them known. */
static void changes_only_stats(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *before = NULL;
    al_auto(al_freep) char *after = NULL;

    for (int i = 0; i < 2000; i++) {
        al_auto(al_freep) char *name = al_asprintf("many/%04d", i);

        tmpdir_write(w->repo, name, "m\n");
        set_times(w, name, EARLY);
    }
    git_ok(w->repo, "add", "many", NULL);
    keep(w, "from");
    keep(w, "to");
    git_ok(w->repo, "rm", "-q", "--cached", "-r", "many/1*", NULL);
    keep(w, "from");
    assert_int_equal(set_stats(w, "to", "from"), 0);
    assert_true(is_blank(w, "to", "many/1000") && is_blank(w, "to", "many/1999"));
    assert_same(w, "to", "from", "many/0???");
    git_ok(w->repo, "read-tree", "--empty", NULL);
    git_ok(w->repo, "add", "a.txt", "many", NULL);
    before = git_output(w->repo, "ls-files", "--stage", NULL);
    assert_int_equal(renameat(w->repo->fd, "to", w->repo->fd, ".git/index"), 0);
    after = git_output(w->repo, "ls-files", "--stage", NULL);
    assert_string_equal(after, before);
}

static void refuses_what_it_does_not_understand(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str raw = AL_STR_INIT;

    keep(w, "from");
    assert_int_equal(al_fs_read(w->repo->fd, "from", 1u << 20, &raw), 0);
    for (size_t len = 0; len < 70; len += 7) {
        tmpdir_write_bytes(w->repo, "to", raw.buf, len);
        assert_int_equal(set_stats(w, "to", "from"), -ENOTSUP);
        tmpdir_write_bytes(w->repo, "to", raw.buf, raw.len);
        tmpdir_write_bytes(w->repo, "cut", raw.buf, len);
        assert_int_equal(set_stats(w, "to", "cut"), 0);
        assert_true(is_blank(w, "to", "a.txt"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(believes_nothing_without_an_earlier_one),
        WORLD_TEST(takes_what_the_earlier_one_knows),
        WORLD_TEST(takes_nothing_as_young_as_the_earlier_one),
        WORLD_TEST(leaves_out_entries_that_are_no_files),
        WORLD_TEST(changes_only_stats),
        WORLD_TEST(refuses_what_it_does_not_understand),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
