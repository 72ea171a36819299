// SPDX-License-Identifier: Apache-2.0
/* The extent of a rollback, and what a redo undoes. */
#include "tests/unit/history/rollback_lib.h"

#define NOBODYS "1234567890123456789012345678901234567890" /* no checkpoint has this id */

static uint64_t interrupted; /* of the last plan */

static int plan_of(struct saver *s, struct al_executions *executions, size_t count, bool redo,
                   struct al_plan *ret_plan)
{
    al_auto(al_rollback_clear) struct al_rollback report = AL_ROLLBACK_INIT;
    struct al_way way = {
        .store = s->store, .repo = s->repo, .executions = *executions, .report = &report
    };
    int r;

    for (size_t i = 0; i < executions->count; i++) { /* the test has changed them */
        al_differences_clear(&executions->items[i].changes);
        executions->items[i].is_read = false;
    }
    al_error_clear(&s->w->err);
    r = al_plan_make(&way, &(struct al_rollback_options){ .count = count, .redo = redo },
                     &s->w->err);
    *ret_plan = way.plan;
    interrupted = report.interrupted;
    return r;
}

static int make(struct saver *s, struct al_executions *executions, size_t count,
                struct al_plan *ret_plan)
{
    return plan_of(s, executions, count, false, ret_plan);
}

/* A plan of `count` that undoes executions from number `first` (0 is the oldest). */
static void assert_plan(struct saver *s, struct al_executions *executions, size_t count,
                        size_t first)
{
    struct al_plan plan;

    assert_int_equal(make(s, executions, count, &plan), 0);
    assert_int_equal(plan.oldest, first);
    assert_int_equal(plan.count, count ? count : 1);
    assert_int_equal(interrupted, 0);
    assert_false(plan.resumes);
}

static void assert_no_plan(struct saver *s, struct al_executions *executions, size_t count,
                           const char *message)
{
    struct al_plan plan;

    assert_int_equal(make(s, executions, count, &plan), AL_ERR_NOT_FOUND);
    assert_string_equal(s->w->err.message, message);
}

static int redo(struct saver *s, struct al_executions *executions, struct al_plan *ret_plan)
{
    return plan_of(s, executions, 0, true, ret_plan);
}

static void assert_no_redo(struct saver *s, struct al_executions *executions)
{
    struct al_plan plan;

    assert_int_equal(redo(s, executions, &plan), AL_ERR_NOT_FOUND);
    assert_non_null(strstr(s->w->err.message, "nothing to redo"));
}

/* Roll back to the checkpoint before an execution: an execution itself. */
static struct al_execution *roll_back(struct saver *s, struct al_executions *executions,
                                      const char *to, const char *name, const char *text)
{
    json_t *input = json_pack("{s:s,s:i}", "to", to, "count", 1); /* before items move */
    struct al_execution *item = execute(s, executions, name, text);

    item->input = input;
    return item;
}

static void goes_back_so_many_executions(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    for (int i = 0; i < 3; i++)
        (void)execute(s, &executions, "a.txt", (const char *[]){ "1\n", "2\n", "3\n" }[i]);
    assert_plan(s, &executions, 0, 2);
    assert_plan(s, &executions, 1, 2);
    assert_plan(s, &executions, 2, 1);
    assert_plan(s, &executions, 3, 0);
    assert_no_plan(s, &executions, 4, "only 3 executions can be rolled back, not 4");
}

static void has_nothing_to_go_back_to(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };
    static const char nothing[] = "there is nothing to roll back in this repository";

    assert_no_plan(s, &executions, 0, nothing);
    (void)execute(s, &executions, NULL, NULL); /* which changed nothing */
    assert_no_plan(s, &executions, 0, nothing);
    assert_no_plan(s, &executions, 2, nothing);
}

static void counts_no_execution_that_changed_nothing(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    (void)execute(s, &executions, "a.txt", "1\n");
    (void)execute(s, &executions, NULL, NULL);
    (void)execute(s, &executions, "a.txt", "3\n");
    (void)execute(s, &executions, NULL, NULL);
    assert_plan(s, &executions, 1, 2);
    assert_plan(s, &executions, 2, 0);
    assert_no_plan(s, &executions, 3, "only 2 executions can be rolled back, not 3");
}

static void goes_no_further_than_a_checkpoint_that_was_dropped(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    (void)execute(s, &executions, "a.txt", "1\n");
    (void)add_execution(&executions, NOBODYS);
    (void)execute(s, &executions, "a.txt", "3\n");
    assert_plan(s, &executions, 1, 2);
    assert_no_plan(s, &executions, 2, "only 1 execution can be rolled back, not 2");
}

static void names_an_execution_that_never_ended(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };
    struct al_plan plan;

    take(s, NULL);
    (void)add_execution(&executions, s->id);
    assert_int_equal(make(s, &executions, 1, &plan), 0);
    assert_int_equal(plan.count, 1);
    assert_int_equal(interrupted, 1);
    (void)execute(s, &executions, "a.txt", "2\n");
    assert_plan(s, &executions, 1, 1); /* not reached */
    assert_int_equal(make(s, &executions, 2, &plan), 0);
    assert_int_equal(interrupted, 1);
}

static void goes_on_with_a_rollback_that_was_interrupted(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };
    struct al_execution *item;
    struct al_plan plan;

    (void)execute(s, &executions, "a.txt", "1\n");
    (void)execute(s, &executions, "a.txt", "2\n");
    take(s, NULL);
    item = add_execution(&executions, s->id);
    item->input = json_pack("{s:s,s:i}", "to", executions.items[0].before, "count", 2);
    assert_false(al_executions_unfinished(&executions));
    item->interrupted = true;
    assert_true(al_executions_unfinished(&executions));
    for (size_t count = 0; count <= 2; count += 2) { /* the same again, or one that says nothing */
        assert_int_equal(make(s, &executions, count, &plan), 0);
        assert_true(plan.resumes);
        assert_int_equal(plan.count, 2);
        assert_int_equal(plan.end, 2);
        assert_int_equal(plan.oldest, 0);
    }
    assert_int_equal(make(s, &executions, 1, &plan), 0); /* another one */
    assert_false(plan.resumes);
    assert_int_equal(plan.oldest, 2);
}

static void goes_on_to_no_checkpoint_that_is_not_there(void **state)
{
    static const char *const targets[] = {
        NOBODYS, "", "main", "../../refs/before/x", NOBODYS NOBODYS,
    };
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };
    struct al_execution *item;
    struct al_plan plan;

    assert_false(al_executions_unfinished(&executions));
    take(s, NULL);
    item = add_execution(&executions, s->id);
    item->interrupted = true;
    for (size_t i = 0; i < COUNT(targets); i++) {
        json_decref(item->input);
        item->input = json_pack("{s:s,s:i}", "to", targets[i], "count", 1);
        assert_int_equal(make(s, &executions, 0, &plan), 0);
        assert_false(plan.resumes);
    }
    json_decref(item->input);
    item->input = json_pack("{s:i}", "count", 1);
    assert_int_equal(make(s, &executions, 0, &plan), 0);
    assert_false(plan.resumes);
}

static void undoes_the_last_rollback(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };
    struct al_plan plan;

    (void)execute(s, &executions, "a.txt", "1\n");
    (void)roll_back(s, &executions, executions.items[0].before, "a.txt", "one\n");
    (void)execute(s, &executions, NULL, NULL); /* which changed nothing */
    assert_int_equal(redo(s, &executions, &plan), 0);
    assert_int_equal(plan.count, 1);
    assert_int_equal(plan.oldest, 1);
}

/* Each redo goes one rollback further forward. */
static void undoes_the_rollback_before_one_that_was_undone(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };
    struct al_execution *item;
    struct al_plan plan;

    (void)execute(s, &executions, "a.txt", "1\n");
    (void)execute(s, &executions, "a.txt", "2\n");
    (void)roll_back(s, &executions, executions.items[1].before, "a.txt", "1\n");
    (void)roll_back(s, &executions, executions.items[0].before, "a.txt", "one\n");
    item = roll_back(s, &executions, executions.items[3].before, "a.txt", "1\n");
    item->redo = true;
    assert_int_equal(redo(s, &executions, &plan), 0);
    assert_int_equal(plan.oldest, 2);
    item = roll_back(s, &executions, executions.items[2].before, "a.txt", "2\n");
    item->redo = true;
    assert_no_redo(s, &executions); /* both are undone */
}

static void has_nothing_to_redo(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    assert_no_redo(s, &executions);
    (void)execute(s, &executions, "a.txt", "1\n");
    assert_no_redo(s, &executions);
    (void)roll_back(s, &executions, executions.items[0].before, "a.txt", "one\n");
    (void)execute(s, &executions, "a.txt", "3\n");
    assert_no_redo(s, &executions); /* something else was executed since */
    (void)add_execution(&executions, NOBODYS);
    assert_no_redo(s, &executions);
}

static size_t further(struct saver *s, struct al_executions *executions, size_t count)
{
    struct al_way way = { .store = s->store, .repo = s->repo, .executions = *executions };

    assert_int_equal(make(s, executions, count, &way.plan), 0);
    return al_plan_further(&way);
}

static void tells_how_many_a_rollback_further_back_undoes(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    (void)execute(s, &executions, "a.txt", "1\n");
    (void)execute(s, &executions, NULL, NULL);
    (void)execute(s, &executions, "a.txt", "3\n");
    assert_int_equal(further(s, &executions, 1), 3); /* the rollback, the third and the first */
    assert_int_equal(further(s, &executions, 2), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(goes_back_so_many_executions),
        SAVER_TEST(has_nothing_to_go_back_to),
        SAVER_TEST(counts_no_execution_that_changed_nothing),
        SAVER_TEST(goes_no_further_than_a_checkpoint_that_was_dropped),
        SAVER_TEST(names_an_execution_that_never_ended),
        SAVER_TEST(goes_on_with_a_rollback_that_was_interrupted),
        SAVER_TEST(goes_on_to_no_checkpoint_that_is_not_there),
        SAVER_TEST(undoes_the_last_rollback),
        SAVER_TEST(undoes_the_rollback_before_one_that_was_undone),
        SAVER_TEST(has_nothing_to_redo),
        SAVER_TEST(tells_how_many_a_rollback_further_back_undoes),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("rollback/plan", tests, NULL, NULL);
}
