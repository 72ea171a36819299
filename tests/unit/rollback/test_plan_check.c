// SPDX-License-Identifier: Apache-2.0
/* rollback/plan.h: the plan names whose work is in the way. */
#include "rollback/plan.h"

#include "tests/unit/rollback/lib.h"

/* Whose work is in the way of undoing all executions, as "<name>\n" each. */
static void assert_lost(struct saver *s, const struct al_executions *executions,
                        const char *leftover, const char *expected)
{
    struct al_run_limits limits = long_budget();
    al_auto(al_strv_clear) struct al_strv lost = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_plan plan;

    take(s, NULL);
    assert_int_equal(
        al_plan_make(s->store, executions, executions->count, &limits, &plan, &s->w->err), 0);
    assert_int_equal(
        al_plan_check(s->store, executions, &plan, s->id, leftover, &limits, &lost, &s->w->err), 0);
    for (size_t i = 0; i < lost.count; i++)
        al_str_addf(&text, "%s\n", lost.items[i]);
    assert_string_equal(text.buf ? text.buf : "", expected);
}

static void names_what_others_changed_between_and_after(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    (void)execute(s, &executions, "a.txt", "1\n");
    assert_lost(s, &executions, "", "");
    tmpdir_write(s->w->repo, "between", "theirs\n");
    (void)execute(s, &executions, "b.txt", "2\n");
    assert_lost(s, &executions, "", "between\n");
    tmpdir_write(s->w->repo, "a.txt", "theirs\n");
    tmpdir_write(s->w->repo, "after", "theirs\n");
    git_ok(s->w->repo, "branch", "theirs", NULL);
    assert_lost(s, &executions, "", "between\na.txt\nafter\nrefs/heads/theirs\n");
}

static void names_nothing_that_going_back_does_not_take_away(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    (void)execute(s, &executions, "a.txt", "1\n");
    (void)execute(s, &executions, "b.txt", "2\n");
    tmpdir_write(s->w->repo, "a.txt", "one\n"); /* as it was before the first */
    assert_lost(s, &executions, "", "");
    git_ok(s->w->repo, "branch", "passing", NULL);
    git_ok(s->w->repo, "branch", "-D", "passing", NULL);
    assert_lost(s, &executions, "", "");
}

static void names_a_change_once(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    (void)execute(s, &executions, "a.txt", "1\n");
    tmpdir_write(s->w->repo, "theirs", "1\n");
    (void)execute(s, &executions, "a.txt", "2\n");
    tmpdir_write(s->w->repo, "theirs", "2\n");
    (void)execute(s, &executions, "a.txt", "3\n");
    tmpdir_write(s->w->repo, "theirs", "3\n");
    assert_lost(s, &executions, "", "theirs\n");
}

static void names_no_leftover_of_an_interrupted_rollback(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    (void)execute(s, &executions, "a.txt", "1\n");
    tmpdir_write(s->w->repo, ".airlock-0123", "half of a file");
    tmpdir_write(s->w->repo, "dir/.airlock-0123", "half of a file");
    tmpdir_write(s->w->repo, "not.airlock-0123", "theirs\n");
    assert_lost(s, &executions, ".airlock-0123", "not.airlock-0123\n");
    assert_lost(s, &executions, "", ".airlock-0123\ndir/.airlock-0123\nnot.airlock-0123\n");
}

static void names_a_stash_that_would_go(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    tmpdir_write(s->w->repo, "a.txt", "stashed\n");
    git_ok(s->w->repo, "stash", "-q", NULL);
    tmpdir_write(s->w->repo, "a.txt", "stashed too\n");
    git_ok(s->w->repo, "stash", "-q", NULL);
    (void)execute(s, &executions, "b.txt", "1\n");
    git_ok(s->w->repo, "stash", "drop", "-q", "stash@{1}", NULL); /* the target has it */
    assert_lost(s, &executions, "", "");
    tmpdir_write(s->w->repo, "a.txt", "theirs\n");
    git_ok(s->w->repo, "stash", "-q", NULL);
    assert_lost(s, &executions, "", "refs/stash\nthe stash\n");
}

static void names_a_change_for_the_user(void **state)
{
    static const struct {
        struct al_difference change;
        const char *words;
    } rows[] = {
        { { .part = AL_PART_INDEX, .name = (char *)"index" }, "the index (what is staged)" },
        { { .part = AL_PART_HEAD, .name = (char *)"HEAD" }, "HEAD" },
        { { .part = AL_PART_STASH, .name = (char *)"logs/refs/stash" }, "the stash" },
        { { .part = AL_PART_REF, .name = (char *)"refs/heads/main" }, "refs/heads/main" },
        { { .part = AL_PART_STATE, .name = (char *)"MERGE_HEAD" },
          "MERGE_HEAD in the git directory" },
        { { .part = AL_PART_WORKTREE, .name = (char *)"dir/a b" }, "dir/a b" },
    };
    static const struct al_difference hostile = { .part = AL_PART_WORKTREE,
                                                  .name = (char *)"a\x1b[2J\nb" };
    al_auto(al_freep) char *safe = al_difference_words(&hostile);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *words = al_difference_words(&rows[i].change);

        assert_string_equal(words, rows[i].words);
    }
    assert_null(strchr(safe, '\x1b'));
    assert_null(strchr(safe, '\n'));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(names_what_others_changed_between_and_after),
        SAVER_TEST(names_nothing_that_going_back_does_not_take_away),
        SAVER_TEST(names_a_change_once),
        SAVER_TEST(names_no_leftover_of_an_interrupted_rollback),
        SAVER_TEST(names_a_stash_that_would_go),
        cmocka_unit_test(names_a_change_for_the_user),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("rollback/plan_check", tests, NULL, NULL);
}
