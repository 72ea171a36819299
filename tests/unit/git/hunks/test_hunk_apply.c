// SPDX-License-Identifier: Apache-2.0
/* gitops/hunks: chosen hunks are staged, unstaged and discarded byte for byte, and an id names the
 * same hunk as long as the hunk is there. */
#include "git/hunks/hunk_list.h"

#include "tests/unit/git/lib.h"

/* Hunks at both ends, one line apart, and one that takes the newline at the end. */
static const char base_text[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n";
static const char new_text[] = "0\n1\n2\n3\nfour\n5\n7\n8\n9\n10\n11\n12\n13\n14\nand\n15\n16";

static void read_list(struct world *w, enum al_hunk_side side, bool binary,
                      struct al_hunk_list *ret)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    assert_int_equal(al_git_read_hunks(repo,
                                       &(struct al_hunk_query){ .side = side, .binary = binary },
                                       ret, &w->err),
                     0);
}

/* Apply the hunks whose bit is set. */
static int apply(struct world *w, enum al_hunk_apply how, unsigned bits)
{
    al_auto(al_hunk_list_clear) struct al_hunk_list list = AL_HUNK_LIST_INIT;
    al_auto(al_hunk_choice_clear) struct al_hunk_choice choice = { .list = NULL };
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    int r;

    read_list(w, how == AL_HUNKS_UNSTAGE ? AL_HUNKS_STAGED : AL_HUNKS_UNSTAGED, true, &list);
    for (size_t i = 0; i < list.count; i++)
        if (bits & 1u << i)
            al_strv_add(&ids, list.items[i].id);
    assert_int_equal(al_hunks_choose(&list, &ids, &choice, &w->err), 0);
    r = al_git_apply_hunks(repo, &choice, how, NULL, &w->err);
    if (r < 0)
        print_message("# %s\n", w->err.message);
    return r;
}

static void assert_same_bytes(struct world *w, const char *one, const char *two)
{
    al_auto(al_freep) char *a = git_output(w->repo, "rev-parse", one, NULL);
    al_auto(al_freep) char *b = git_output(w->repo, "rev-parse", two, NULL);

    assert_string_equal(a, b);
}

static size_t count_items(struct world *w, enum al_hunk_side side)
{
    al_auto(al_hunk_list_clear) struct al_hunk_list list = AL_HUNK_LIST_INIT;

    read_list(w, side, false, &list);
    return list.count;
}

/* Every subset is staged, then the others: the result is what git add makes of the file.  On the
 * way every id that is left stays. */
static void stages_any_subset(void **state)
{
    struct world *w = *state;

    git_fixture_commit(w->repo, "b.txt", base_text, "base");
    tmpdir_write(w->repo, "b.txt", new_text);
    assert_int_equal(count_items(w, AL_HUNKS_UNSTAGED), 5);
    for (unsigned bits = 0; bits < 32; bits++) {
        al_auto(al_hunk_list_clear) struct al_hunk_list all = AL_HUNK_LIST_INIT;
        al_auto(al_hunk_list_clear) struct al_hunk_list left = AL_HUNK_LIST_INIT;
        size_t next = 0;

        git_ok(w->repo, "reset", "-q", NULL);
        read_list(w, AL_HUNKS_UNSTAGED, false, &all);
        assert_int_equal(apply(w, AL_HUNKS_STAGE, bits), 0);
        read_list(w, AL_HUNKS_UNSTAGED, false, &left);
        for (size_t i = 0; i < all.count; i++)
            if (!(bits & 1u << i))
                assert_string_equal(left.items[next++].id, all.items[i].id);
        assert_int_equal(next, left.count);
        assert_int_equal(apply(w, AL_HUNKS_STAGE, 31), 0);
        git_ok(w->repo, "diff", "--exit-code", NULL);
    }
}

static void unstages_any_subset(void **state)
{
    struct world *w = *state;

    git_fixture_commit(w->repo, "b.txt", base_text, "base");
    tmpdir_write(w->repo, "b.txt", new_text);
    for (unsigned bits = 0; bits < 32; bits++) {
        git_ok(w->repo, "add", "b.txt", NULL);
        assert_int_equal(apply(w, AL_HUNKS_UNSTAGE, bits), 0);
        assert_int_equal(count_items(w, AL_HUNKS_UNSTAGED), (size_t)__builtin_popcount(bits));
        assert_int_equal(apply(w, AL_HUNKS_UNSTAGE, 31), 0);
        assert_same_bytes(w, ":b.txt", "HEAD:b.txt");
    }
}

static void discards_any_subset(void **state)
{
    struct world *w = *state;

    git_fixture_commit(w->repo, "b.txt", base_text, "base");
    for (unsigned bits = 0; bits < 32; bits++) {
        tmpdir_write(w->repo, "b.txt", new_text);
        assert_int_equal(apply(w, AL_HUNKS_DISCARD, bits), 0);
        assert_int_equal(count_items(w, AL_HUNKS_UNSTAGED), 5 - (size_t)__builtin_popcount(bits));
        assert_int_equal(apply(w, AL_HUNKS_DISCARD, 31), 0);
        git_ok(w->repo, "diff", "--exit-code", NULL);
    }
}

/* White space, line ends and what a repository says about them stay as they are. */
static void changes_no_byte_of_its_own(void **state)
{
    struct world *w = *state;
    static const char old[] = "a\r\nb \t\nc\nd\ne\nf\ng\nh\n",
                      new[] = "A  \r\nb \t\nc\nd\ne\nf\ng\n \tH\r\n \n\n\n";

    git_ok(w->repo, "config", "apply.whitespace", "fix", NULL);
    git_ok(w->repo, "config", "apply.ignoreWhitespace", "change", NULL);
    git_ok(w->repo, "config", "core.whitespace", "trailing-space,tab-in-indent", NULL);
    git_ok(w->repo, "config", "diff.context", "0", NULL);
    git_ok(w->repo, "config", "diff.interHunkContext", "50", NULL);
    git_ok(w->repo, "config", "diff.noprefix", "true", NULL);
    git_ok(w->repo, "config", "diff.algorithm", "patience", NULL);
    git_ok(w->repo, "config", "color.diff", "always", NULL);
    git_fixture_commit(w->repo, "b.txt", old, "base");
    tmpdir_write(w->repo, "b.txt", new);
    assert_int_equal(count_items(w, AL_HUNKS_UNSTAGED), 2);
    assert_int_equal(apply(w, AL_HUNKS_STAGE, 1), 0);
    assert_int_equal(apply(w, AL_HUNKS_STAGE, 1), 0);
    git_ok(w->repo, "diff", "--exit-code", NULL);
    git_ok(w->repo, "reset", "-q", NULL);
    assert_int_equal(apply(w, AL_HUNKS_DISCARD, 3), 0);
    git_ok(w->repo, "diff", "--exit-code", NULL);
}

/* Names that git quotes, and changes that have no lines. */
static void takes_every_kind_of_change(void **state)
{
    struct world *w = *state;
    static const char odd[] = "b \"q\"\t\n\xc3\xa4.txt", binary[] = "\0\n\x02";
    al_auto(al_hunk_list_clear) struct al_hunk_list list = AL_HUNK_LIST_INIT;

    git_fixture_commit(w->repo, odd, base_text, "odd");
    git_fixture_commit(w->repo, "gone", "gone\n", "gone");
    git_fixture_commit(w->repo, "mode", "mode\n", "mode");
    git_fixture_commit(w->repo, "both", "both\n", "both");
    git_fixture_commit(w->repo, "link", "link\n", "link");
    git_fixture_commit(w->repo, "empty", "", "empty");
    git_fixture_commit(w->repo, "end", "a\nb", "end");
    tmpdir_write(w->repo, odd, new_text);
    tmpdir_write(w->repo, "both", "other\n");
    tmpdir_write(w->repo, "end", "a\nb\n");
    tmpdir_write(w->repo, "new", "new\n");
    tmpdir_write_bytes(w->repo, "bin", binary, sizeof(binary));
    assert_int_equal(fchmodat(w->repo->fd, "mode", 0755, 0), 0);
    assert_int_equal(fchmodat(w->repo->fd, "both", 0755, 0), 0);
    assert_int_equal(unlinkat(w->repo->fd, "gone", 0), 0);
    assert_int_equal(unlinkat(w->repo->fd, "empty", 0), 0);
    assert_int_equal(unlinkat(w->repo->fd, "link", 0), 0);
    assert_int_equal(symlinkat("end", w->repo->fd, "link"), 0);
    git_ok(w->repo, "add", "-N", "new", "bin", NULL);
    read_list(w, AL_HUNKS_UNSTAGED, true, &list);
    assert_int_equal(list.nfiles, 9);
    for (size_t i = list.count; i-- > 0;)
        assert_int_equal(apply(w, AL_HUNKS_STAGE, 1u << i), 0);
    git_ok(w->repo, "diff", "--exit-code", NULL);
    assert_int_equal(count_items(w, AL_HUNKS_STAGED), list.count);
    for (size_t i = list.count; i-- > 0;)
        assert_int_equal(apply(w, AL_HUNKS_UNSTAGE, 1u << i), 0);
    git_ok(w->repo, "diff", "--cached", "--exit-code", NULL);
}

/* An equal hunk keeps its number when the other one is staged, and no id comes to name another. */
static void counts_equal_hunks_of_both_sides(void **state)
{
    struct world *w = *state;
    static const char old[] = "{\na\n}\n1\n2\n3\n4\n{\na\n}\n",
                      new[] = "{\nb\n}\n1\n2\n3\n4\n{\nb\n}\n";
    al_auto(al_hunk_list_clear) struct al_hunk_list two = AL_HUNK_LIST_INIT;
    al_auto(al_hunk_list_clear) struct al_hunk_list one = AL_HUNK_LIST_INIT;
    al_auto(al_hunk_choice_clear) struct al_hunk_choice choice = { .list = NULL };
    al_auto(al_strv_clear) struct al_strv first = AL_STRV_INIT;

    git_fixture_commit(w->repo, "b.txt", old, "base");
    tmpdir_write(w->repo, "b.txt", new);
    read_list(w, AL_HUNKS_UNSTAGED, false, &two);
    assert_int_equal(two.count, 2);
    assert_true(al_starts_with(two.items[1].id, two.items[0].id));
    assert_string_equal(two.items[1].id + AL_HUNK_ID_DIGITS, "-2");
    assert_int_equal(apply(w, AL_HUNKS_STAGE, 1), 0);
    read_list(w, AL_HUNKS_UNSTAGED, false, &one);
    assert_int_equal(one.count, 1);
    assert_string_equal(one.items[0].id, two.items[1].id);
    al_strv_add(&first, two.items[0].id);
    assert_int_equal(al_hunks_choose(&one, &first, &choice, &w->err), AL_ERR_BAD_ARGS);
    assert_non_null(
        strstr(w->err.message, "is not there any more; the unstaged hunks are: b.txt: "));
    assert_non_null(strstr(w->err.message, one.items[0].id));
}

static void shows_every_line_once(void **state)
{
    struct world *w = *state;
    al_auto(al_hunk_list_clear) struct al_hunk_list list = AL_HUNK_LIST_INIT;
    al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str expected = AL_STR_INIT;

    git_fixture_commit(w->repo, "b.txt", base_text, "base");
    tmpdir_write(w->repo, "b.txt", new_text);
    read_list(w, AL_HUNKS_UNSTAGED, false, &list);
    for (size_t i = 0; i < list.count; i++)
        al_hunk_show(&list, &list.items[i], 1, &shown);
    al_str_addf(&expected,
                "@@ %s -1,1 +1,2 @@\n+0\n 1\n@@ %s -3,3 +4,3 @@\n 3\n-4\n+four\n 5\n"
                "@@ %s -6,2 +7,1 @@\n-6\n 7\n@@ %s -14,2 +14,3 @@\n 14\n+and\n 15\n"
                "@@ %s -16,1 +17,1 @@\n-16\n+16\n\\ No newline at end of file\n",
                list.items[0].id, list.items[1].id, list.items[2].id, list.items[3].id,
                list.items[4].id);
    assert_string_equal(shown.buf, expected.buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(stages_any_subset),          WORLD_TEST(unstages_any_subset),
        WORLD_TEST(discards_any_subset),        WORLD_TEST(changes_no_byte_of_its_own),
        WORLD_TEST(takes_every_kind_of_change), WORLD_TEST(counts_equal_hunks_of_both_sides),
        WORLD_TEST(shows_every_line_once),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
