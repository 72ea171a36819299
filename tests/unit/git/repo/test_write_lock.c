// SPDX-License-Identifier: Apache-2.0
/* git/repo/write_lock.h: one writer of a repository at a time among the threads of a process. */
#include <pthread.h>

#include "git/repo/repo.h"
#include "git/repo/write_lock.h"
#include "tests/unit/git/repo/write_lock_lib.h"

static void lets_writers_work_one_after_the_other(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    struct al_run_limits budget = long_budget();
    struct writer writers[5];

    assert_int_equal(al_write_lock_acquire(repo, &budget, NULL), 0);
    for (size_t i = 0; i < COUNT(writers); i++)
        start(w, &writers[i], "repo", &log, (char)('a' + i));
    let_it_wait();
    assert_int_equal(log.len, 0); /* all of them wait */
    al_write_lock_release(repo);
    for (size_t i = 0; i < COUNT(writers); i++)
        assert_int_equal(finish(&writers[i]), 0);
    assert_int_equal(log.len, COUNT(writers));
    assert_true(is_free(w));
}

static void waiting_for_its_own_process_is_not_limited(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    struct al_run_limits budget = long_budget();
    struct writer writer = { .repo = must_open(w, "repo"),
                             .budget = { .left_ms = 20, .cancel = al_cancel_new() },
                             .log = &log,
                             .letter = 'a' };

    assert_int_equal(al_write_lock_acquire(repo, &budget, NULL), 0);
    assert_int_equal(pthread_create(&writer.thread, NULL, write_letter, &writer), 0);
    let_it_wait();
    al_write_lock_release(repo);
    assert_int_equal(finish(&writer), 0);
    assert_string_equal(log.buf, "a");
}

static void lets_writers_of_other_repositories_work_at_once(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(repo_freep) struct al_repo *other = NULL;
    al_auto(subdir_closep) struct tmpdir *dir = subdir_open(w->root, "other");
    struct al_run_limits budget = long_budget();

    git_fixture_init(dir);
    other = must_open(w, "other");
    assert_int_equal(al_write_lock_acquire(repo, &budget, NULL), 0);
    assert_int_equal(al_write_lock_acquire(other, &budget, NULL), 0); /* or this never returns */
    al_write_lock_release(repo);
    al_write_lock_release(other);
    al_write_lock_release(other); /* without the lock, it is harmless */
}

static void makes_linked_worktrees_wait_for_each_other(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    struct al_run_limits budget = long_budget();
    struct writer writer;

    git_ok(w->repo, "worktree", "add", "-q", "../linked", NULL);
    repo = must_open(w, "repo");
    assert_int_equal(al_write_lock_acquire(repo, &budget, NULL), 0);
    start(w, &writer, "linked", &log, 'x');
    let_it_wait();
    assert_int_equal(log.len, 0);
    al_repo_free(al_take(&repo)); /* which releases it */
    assert_int_equal(finish(&writer), 0);
    assert_string_equal(log.buf, "x");
}

/* Two pushes to each other's repository would wait for ever. */
static void waits_for_a_second_repository_until_the_deadline(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *own = must_open(w, "repo");
    al_auto(repo_freep) struct al_repo *other = NULL;
    al_auto(repo_freep) struct al_repo *again = NULL;
    al_auto(subdir_closep) struct tmpdir *dir = subdir_open(w->root, "other");
    struct al_run_limits budget = long_budget(), brief = { .left_ms = 20 };

    git_fixture_init(dir);
    other = must_open(w, "other");
    again = must_open(w, "other");
    assert_int_equal(al_write_lock_acquire(own, &budget, NULL), 0);
    assert_int_equal(al_write_lock_acquire(other, &budget, NULL), 0);
    assert_int_equal(al_write_lock_acquire_other(again, own, &brief, &w->err), AL_ERR_EXECUTION);
    assert_int_equal(w->err.code, AL_CODE_LOCK_TIMEOUT);
}

static void takes_no_second_lock_of_one_repository(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(repo_freep) struct al_repo *again = must_open(w, "repo");
    struct al_run_limits budget = long_budget();

    assert_int_equal(al_write_lock_acquire(repo, &budget, NULL), 0);
    assert_int_equal(al_write_lock_acquire_other(again, repo, &budget, NULL), 0);
    al_write_lock_release(again);
    assert_false(is_free(w));
}

static void gives_up_its_place_when_cancelled(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    struct al_run_limits budget = long_budget();
    struct writer first, second;

    assert_int_equal(al_write_lock_acquire(repo, &budget, NULL), 0);
    start(w, &first, "repo", &log, 'a');
    let_it_wait();
    start(w, &second, "repo", &log, 'b');
    al_cancel_fire(first.budget.cancel);
    assert_int_equal(finish(&first), AL_ERR_CANCELLED);
    al_write_lock_release(repo);
    assert_int_equal(finish(&second), 0);
    assert_string_equal(log.buf, "b");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(lets_writers_work_one_after_the_other),
        WORLD_TEST(waiting_for_its_own_process_is_not_limited),
        WORLD_TEST(lets_writers_of_other_repositories_work_at_once),
        WORLD_TEST(makes_linked_worktrees_wait_for_each_other),
        WORLD_TEST(waits_for_a_second_repository_until_the_deadline),
        WORLD_TEST(takes_no_second_lock_of_one_repository),
        WORLD_TEST(gives_up_its_place_when_cancelled),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/repo/write_lock", tests, NULL, NULL);
}
