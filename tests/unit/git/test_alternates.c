// SPDX-License-Identifier: Apache-2.0
/* gitops/alternates.h: every store that git would read objects from lies inside the roots.
 */
#include "tests/unit/git/locate_lib.h"

static void set_alternates(struct tmpdir *dir, const char *words)
{
    tmpdir_write(dir, ".git/objects/info/alternates", words);
}

static void accepts_alternates_inside(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *absolute = NULL;

    make_repo(w->root, "other");
    absolute = tmpdir_path(w->root, "other/.git/objects\n");
    set_alternates(w->repo, "# a comment: /outside\n\n../../../other/.git/objects\n");
    assert_opens(w, "repo", "repo");
    set_alternates(w->repo, absolute);
    assert_opens(w, "repo", "repo");
    set_alternates(w->repo, "../../../absent/objects\n"); /* git skips it, and so do we */
    assert_opens(w, "repo", "repo");
}

static void refuses_alternates_outside(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *absolute = tmpdir_path(w->outside, "other/.git/objects");
    al_auto(al_freep) char *quoted = al_asprintf("\"%s\"\n", absolute);
    al_auto(al_freep) char *last = al_asprintf("#x\n../../../repo/.git/objects\n%s", absolute);
    const char *const words[] = {
        absolute,
        quoted, /* git unquotes it */
        last,   /* after one that is fine, without a newline */
        "../../../../outside/other/.git/objects\n",
        "../../../../outside/absent\n",
        "/\n",
        "\"../../../repo/.git/objects\"\n", /* inside, but quoted: not worth reading */
    };

    make_repo(w->outside, "other");
    for (size_t i = 0; i < COUNT(words); i++) {
        set_alternates(w->repo, words[i]);
        assert_part_outside(w, "repo", "borrows objects");
    }
}

static void follows_alternates_of_alternates(void **state)
{
    struct world *w = *state;
    al_auto(subdir_closep) struct tmpdir *other = subdir_open(w->root, "other");

    git_fixture_init(other);
    make_repo(w->outside, "far");
    set_alternates(w->repo, "../../../other/.git/objects\n");
    assert_opens(w, "repo", "repo");
    set_alternates(other, "../../../../outside/far/.git/objects\n");
    assert_part_outside(w, "repo", "borrows objects");
}

/* Stores 0..n-1, each with the next one as its alternate, the last with `end`. */
static void make_chain(struct world *w, int n, const char *end)
{
    for (int i = 0; i < n; i++) {
        al_auto(al_freep) char *file = al_asprintf("store%d/info/alternates", i);
        al_auto(al_freep) char *next =
            i + 1 < n ? al_asprintf("../store%d\n", i + 1) : al_strdup(end);

        tmpdir_write(w->root, file, next);
    }
}

static void looks_at_each_store_once(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str fan = AL_STR_INIT;

    set_alternates(w->repo, ".\n"); /* itself, without end */
    assert_opens(w, "repo", "repo");
    make_chain(w, 8, "../store0\n");
    set_alternates(w->repo, "../../../store0\n");
    assert_opens(w, "repo", "repo");
    for (int i = 0; i < 100; i++) /* a hundred ways to each next store: 100^8 paths */
        al_str_adds(&fan, "../store1\n../store2\n../store3\n../store4\n");
    for (int i = 0; i < 8; i++) {
        al_auto(al_freep) char *file = al_asprintf("store%d/info/alternates", i);

        tmpdir_write(w->root, file, fan.buf);
    }
    assert_opens(w, "repo", "repo");
}

static void follows_a_chain_to_where_it_leads(void **state)
{
    struct world *w = *state;

    make_repo(w->outside, "end");
    make_chain(w, 8, "../../outside/end/.git/objects\n");
    set_alternates(w->repo, "../../../store0\n");
    assert_part_outside(w, "repo", "borrows objects");
}

static void counts_stores_up_to_the_limit(void **state)
{
    struct world *w = *state;

    set_alternates(w->repo, "../../../store0\n");
    make_chain(w, 62, "\n"); /* 63 with the repository's own */
    assert_opens(w, "repo", "repo");
    make_chain(w, 63, "\n");
    assert_opens(w, "repo", "repo");
    make_chain(w, 64, "\n");
    assert_part_outside(w, "repo", "borrows objects");
}

static void refuses_an_alternates_file_that_cannot_be_read(void **state)
{
    struct world *w = *state;

    tmpdir_symlink(w->repo, "/etc/hostname", ".git/objects/info/alternates");
    assert_part_outside(w, "repo", "borrows objects");
    assert_int_equal(unlinkat(w->repo->fd, ".git/objects/info/alternates", 0), 0);
    assert_int_equal(mkfifoat(w->repo->fd, ".git/objects/info/alternates", 0600), 0);
    assert_part_outside(w, "repo", "borrows objects");
}

static void reads_alternates_up_to_the_limit(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    while (text.len < 65535)
        al_str_addc(&text, '\n');
    set_alternates(w->repo, text.buf);
    assert_opens(w, "repo", "repo");
    al_str_addc(&text, '\n');
    set_alternates(w->repo, text.buf);
    assert_opens(w, "repo", "repo");
    al_str_addc(&text, '\n');
    set_alternates(w->repo, text.buf);
    assert_part_outside(w, "repo", "borrows objects");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(accepts_alternates_inside),
        WORLD_TEST(refuses_alternates_outside),
        WORLD_TEST(follows_alternates_of_alternates),
        WORLD_TEST(looks_at_each_store_once),
        WORLD_TEST(follows_a_chain_to_where_it_leads),
        WORLD_TEST(counts_stores_up_to_the_limit),
        WORLD_TEST(refuses_an_alternates_file_that_cannot_be_read),
        WORLD_TEST(reads_alternates_up_to_the_limit),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/alternates", tests, NULL, NULL);
}
