// SPDX-License-Identifier: Apache-2.0
/* git/repo/write_lock.h: one writer of a repository at a time, in order of arrival. */
#include <pthread.h>
#include <sys/resource.h>

#include "git/repo/repo.h"
#include "git/repo/write_lock.h"
#include "tests/unit/git/repo/write_lock_lib.h"

static void lets_writers_work_in_order_of_arrival(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    struct al_run_limits budget = long_budget();
    struct writer writers[5];

    assert_int_equal(al_write_lock_acquire_with_index(repo, &budget, NULL), 0);
    for (size_t i = 0; i < COUNT(writers); i++) {
        start(w, &writers[i], "repo", &log, (char)('a' + i));
        await_locks(w->git, i + 2);
    }
    assert_int_equal(log.len, 0); /* all of them wait */
    al_write_lock_release(repo);
    for (size_t i = 0; i < COUNT(writers); i++)
        assert_int_equal(finish(&writers[i]), 0);
    assert_string_equal(log.buf, "abcde");
    assert_int_equal(count_locks(w->git), 0);
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
    assert_int_equal(al_write_lock_acquire_with_index(repo, &budget, NULL), 0);
    assert_int_equal(al_write_lock_acquire_with_index(other, &budget, NULL),
                     0); /* or this never returns */
    al_write_lock_release(repo);
    al_write_lock_release(other);
    al_write_lock_release(other); /* without the lock, it is harmless */
    assert_int_equal(count_locks(w->git), 0);
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
    assert_int_equal(al_write_lock_acquire_with_index(repo, &budget, NULL), 0);
    start(w, &writer, "linked", &log, 'x');
    await_locks(w->git, 2);
    assert_int_equal(log.len, 0);
    al_write_lock_release(repo);
    assert_int_equal(finish(&writer), 0);
    assert_string_equal(log.buf, "x");
}

/* A writer that takes the lock of a second repository while it holds one. */
struct pair {
    struct al_repo *own, *other;
    struct al_error err;
    int r;
    pthread_t thread;
};

static void *take_both(void *payload)
{
    struct pair *pair = payload;
    struct al_run_limits budget = long_budget();

    pair->r = al_write_lock_acquire_other(pair->other, pair->own, &budget, &pair->err);
    al_write_lock_release(pair->other);
    al_write_lock_release(pair->own);
    return NULL;
}

static void refuses_a_lock_that_would_deadlock(void **state)
{
    struct world *w = *state;
    al_auto(subdir_closep) struct tmpdir *dir = subdir_open(w->root, "other");
    struct al_run_limits budget = long_budget();
    struct pair first = { .own = NULL }, second = { .own = NULL };

    git_fixture_init(dir);
    first.own = must_open(w, "repo");
    first.other = must_open(w, "other");
    second.own = must_open(w, "other");
    second.other = must_open(w, "repo");
    assert_int_equal(al_write_lock_acquire_with_index(first.own, &budget, NULL), 0);
    assert_int_equal(al_write_lock_acquire_with_index(second.own, &budget, NULL), 0);
    assert_int_equal(pthread_create(&first.thread, NULL, take_both, &first), 0);
    await_locks(w->git, 3);
    (void)take_both(&second); /* or this never returns */
    assert_int_equal(pthread_join(first.thread, NULL), 0);
    assert_int_equal(second.r, AL_ERR_EXECUTION);
    assert_int_equal(second.err.code, AL_CODE_LOCK_TIMEOUT);
    assert_int_equal(first.r, 0);
    assert_int_equal(count_locks(w->git), 0);
    al_error_clear(&second.err);
    for (size_t i = 0; i < 2; i++) {
        al_repo_free((i ? &second : &first)->own);
        al_repo_free((i ? &second : &first)->other);
    }
}

static void takes_no_second_lock_of_one_repository(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(repo_freep) struct al_repo *again = must_open(w, "repo");
    struct al_run_limits budget = long_budget();

    assert_int_equal(al_write_lock_acquire_with_index(repo, &budget, NULL), 0);
    assert_int_equal(al_write_lock_acquire_other(again, repo, &budget, NULL), 0);
    assert_int_equal(count_locks(w->git), 1);
    al_write_lock_release(again);
    al_write_lock_release(repo);
}

static void gives_up_its_place_when_cancelled(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    struct al_run_limits budget = long_budget();
    struct writer first, second;

    assert_int_equal(al_write_lock_acquire_with_index(repo, &budget, NULL), 0);
    start(w, &first, "repo", &log, 'a');
    await_locks(w->git, 2);
    start(w, &second, "repo", &log, 'b');
    await_locks(w->git, 3);
    al_cancel_fire(first.budget.cancel);
    await_locks(w->git, 2);
    assert_int_equal(finish(&first), AL_ERR_CANCELLED);
    al_write_lock_release(repo);
    assert_int_equal(finish(&second), 0);
    assert_string_equal(log.buf, "b");
}

static void hands_the_lock_on_when_it_is_freed(void **state)
{
    struct world *w = *state;
    struct al_repo *repo = must_open(w, "repo");
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    struct al_run_limits budget = long_budget();
    struct writer writer;

    assert_int_equal(al_write_lock_acquire_with_index(repo, &budget, NULL), 0);
    start(w, &writer, "repo", &log, 'a');
    await_locks(w->git, 2);
    al_repo_free(repo);
    assert_int_equal(finish(&writer), 0);
    assert_string_equal(log.buf, "a");
}

/* A writer that no thread could wake would wait until it is cancelled. */
static void does_not_wait_where_no_thread_can_wake_it(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *first = must_open(w, "repo");
    al_auto(repo_freep) struct al_repo *second = must_open(w, "repo");
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_run_limits budget = long_budget();
    struct rlimit old, none;
    int r;

    assert_int_equal(al_write_lock_acquire(first, &budget, NULL), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = (struct rlimit){ .rlim_cur = 0, .rlim_max = old.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    r = al_write_lock_acquire(second, &budget, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(r, AL_ERR_EXECUTION);
    assert_non_null(strstr(err.message, "cannot wait for the write lock"));
    assert_int_equal(count_locks(w->git), 1);
    al_write_lock_release(first);
    assert_int_equal(al_write_lock_acquire(second, &budget, NULL), 0);
    al_write_lock_release(second);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(lets_writers_work_in_order_of_arrival),
        WORLD_TEST(lets_writers_of_other_repositories_work_at_once),
        WORLD_TEST(makes_linked_worktrees_wait_for_each_other),
        WORLD_TEST(refuses_a_lock_that_would_deadlock),
        WORLD_TEST(takes_no_second_lock_of_one_repository),
        WORLD_TEST(gives_up_its_place_when_cancelled),
        WORLD_TEST(hands_the_lock_on_when_it_is_freed),
        WORLD_TEST(does_not_wait_where_no_thread_can_wake_it),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/repo/write_lock", tests, NULL, NULL);
}
