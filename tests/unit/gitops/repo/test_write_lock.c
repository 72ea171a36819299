// SPDX-License-Identifier: Apache-2.0
/* gitops/repo/repo.h, turns: one writer of a repository at a time, in order of arrival. */
#include <pthread.h>
#include <sched.h>

#include <dirent.h>
#include <sys/resource.h>

#include "gitops/command.h"
#include "gitops/layer.h"
#include "gitops/porcelain/add.h"
#include "gitops/repo/repo.h"
#include "gitops/repo/write_lock.h"
#include "gitops/run.h"
#include "guard/root.h"
#include "tests/unit/gitops/lib.h"

/* A writer with a thread of its own.  It writes its letter while it has the turn. */
struct writer {
    struct al_repo *repo;
    struct al_run_limits budget;
    struct al_str *log; /* guarded by the turn itself */
    char letter;
    int r;
    struct al_error err;
    pthread_t thread;
};

static void *write_letter(void *payload)
{
    struct writer *writer = payload;

    writer->r = al_write_lock_acquire_with_index(writer->repo, &writer->budget, &writer->err);
    if (writer->r == 0) {
        al_str_addc(writer->log, writer->letter);
        al_write_lock_release(writer->repo);
    }
    return NULL;
}

static void start(struct world *w, struct writer *writer, const char *given, struct al_str *log,
                  char letter)
{
    *writer = (struct writer){
        .repo = must_open(w, given), .budget = long_budget(), .log = log, .letter = letter
    };
    writer->budget.cancel = al_cancel_new();
    assert_int_equal(pthread_create(&writer->thread, NULL, write_letter, writer), 0);
}

static int finish(struct writer *writer)
{
    assert_int_equal(pthread_join(writer->thread, NULL), 0);
    al_repo_free(writer->repo);
    al_cancel_unref(writer->budget.cancel);
    al_error_clear(&writer->err);
    return writer->r;
}

static size_t count_turns(struct al_git *git)
{
    size_t count = 0;

    (void)pthread_mutex_lock(&git->lock);
    for (const struct al_write_lock *at = git->write_locks; at; at = at->next)
        count++;
    (void)pthread_mutex_unlock(&git->lock);
    return count;
}

/* Until so many work or wait: they arrive one after the other, whatever the scheduler does. */
static void await_turns(struct al_git *git, size_t count)
{
    while (count_turns(git) != count)
        sched_yield();
}

/* Wait until a thread of this process watches a directory. */
static void await_watch(void)
{
    bool watched = false;

    while (!watched) {
        DIR *dir = opendir("/proc/self/fdinfo");
        const struct dirent *entry;

        assert_non_null(dir);
        while ((entry = readdir(dir))) {
            al_auto(al_str_clear) struct al_str info = AL_STR_INIT;

            if (al_fs_read(dirfd(dir), entry->d_name, 65536, &info) == 0 &&
                strstr(info.buf, "inotify wd:"))
                watched = true;
        }
        closedir(dir);
    }
}

static void lock_index(struct world *w)
{
    tmpdir_write(w->repo, ".git/index.lock", "");
}

static void unlock_index(struct world *w)
{
    assert_int_equal(unlinkat(w->repo->fd, ".git/index.lock", 0), 0);
}

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
        await_turns(w->git, i + 2);
    }
    assert_int_equal(log.len, 0); /* all of them wait */
    al_write_lock_release(repo);
    for (size_t i = 0; i < COUNT(writers); i++)
        assert_int_equal(finish(&writers[i]), 0);
    assert_string_equal(log.buf, "abcde");
    assert_int_equal(count_turns(w->git), 0);
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
    al_write_lock_release(other); /* having no turn, it is harmless */
    assert_int_equal(count_turns(w->git), 0);
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
    await_turns(w->git, 2);
    assert_int_equal(log.len, 0);
    al_write_lock_release(repo);
    assert_int_equal(finish(&writer), 0);
    assert_string_equal(log.buf, "x");
}

/* A writer that takes the turn of a second repository while it has one. */
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

    pair->r = al_write_lock_acquire_other(pair->other, pair->own, budget.cancel, &pair->err);
    al_write_lock_release(pair->other);
    al_write_lock_release(pair->own);
    return NULL;
}

static void refuses_the_turn_that_would_close_a_circle(void **state)
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
    await_turns(w->git, 3);
    (void)take_both(&second); /* or this never returns */
    assert_int_equal(pthread_join(first.thread, NULL), 0);
    assert_int_equal(second.r, AL_ERR_EXECUTION);
    assert_int_equal(second.err.code, AL_CODE_LOCK_TIMEOUT);
    assert_int_equal(first.r, 0);
    assert_int_equal(count_turns(w->git), 0);
    al_error_clear(&second.err);
    for (size_t i = 0; i < 2; i++) {
        al_repo_free((i ? &second : &first)->own);
        al_repo_free((i ? &second : &first)->other);
    }
}

static void takes_no_second_turn_of_one_repository(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(repo_freep) struct al_repo *again = must_open(w, "repo");
    struct al_run_limits budget = long_budget();

    assert_int_equal(al_write_lock_acquire_with_index(repo, &budget, NULL), 0);
    assert_int_equal(al_write_lock_acquire_other(again, repo, NULL, NULL), 0);
    assert_int_equal(count_turns(w->git), 1);
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
    await_turns(w->git, 2);
    start(w, &second, "repo", &log, 'b');
    await_turns(w->git, 3);
    al_cancel_fire(first.budget.cancel);
    await_turns(w->git, 2);
    assert_int_equal(finish(&first), AL_ERR_CANCELLED);
    al_write_lock_release(repo);
    assert_int_equal(finish(&second), 0);
    assert_string_equal(log.buf, "b");
}

static void hands_its_turn_on_when_it_is_freed(void **state)
{
    struct world *w = *state;
    struct al_repo *repo = must_open(w, "repo");
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    struct al_run_limits budget = long_budget();
    struct writer writer;

    assert_int_equal(al_write_lock_acquire_with_index(repo, &budget, NULL), 0);
    start(w, &writer, "repo", &log, 'a');
    await_turns(w->git, 2);
    al_repo_free(repo);
    assert_int_equal(finish(&writer), 0);
    assert_string_equal(log.buf, "a");
}

static void waits_for_a_foreign_index_lock(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    struct writer writer;

    lock_index(w);
    start(w, &writer, "repo", &log, 'a');
    await_watch();
    tmpdir_write(w->repo, ".git/other", ""); /* another file that goes is not the lock */
    assert_int_equal(unlinkat(w->repo->fd, ".git/other", 0), 0);
    assert_int_equal(count_turns(w->git), 1); /* it still waits */
    unlock_index(w);
    assert_int_equal(finish(&writer), 0);
    assert_string_equal(log.buf, "a");
    assert_in_range(writer.budget.left_ms, 1, LONG_MS);
}

static void sees_a_lock_that_becomes_the_index(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    struct writer writer;

    lock_index(w);
    start(w, &writer, "repo", &log, 'a');
    await_watch();
    assert_int_equal(renameat(w->repo->fd, ".git/index.lock", w->repo->fd, ".git/index"), 0);
    assert_int_equal(finish(&writer), 0);
    assert_string_equal(log.buf, "a");
}

static void stops_waiting_for_the_lock_when_cancelled(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    struct writer writer;

    lock_index(w);
    start(w, &writer, "repo", &log, 'a');
    await_watch();
    al_cancel_fire(writer.budget.cancel);
    assert_int_equal(finish(&writer), AL_ERR_CANCELLED);
    assert_int_equal(log.len, 0);
    assert_int_equal(count_turns(w->git), 0);
}

static void says_that_the_lock_does_not_go_away(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    struct al_run_limits budget = { .left_ms = 1 };

    lock_index(w);
    assert_int_equal(al_write_lock_acquire_with_index(repo, &budget, &w->err), AL_ERR_EXECUTION);
    assert_int_equal(w->err.code, AL_CODE_LOCK_TIMEOUT);
    assert_non_null(strstr(w->err.message, "index.lock"));
    assert_null(strstr(w->err.message, w->root->path));
    assert_int_equal(count_turns(w->git), 0); /* the turn was given back */
    unlock_index(w);
    budget = long_budget();
    assert_int_equal(al_write_lock_acquire_with_index(repo, &budget, NULL), 0);
    assert_int_equal(budget.left_ms, LONG_MS); /* nothing to wait for costs nothing */
}

/* Stages everything in a thread, with the turn in hand already. */
static void *stage_all(void *payload)
{
    struct writer *writer = payload;
    const struct al_add_options options = { .mode = AL_ADD_ALL };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    writer->r = al_git_add(writer->repo, &options, 65536, &writer->budget, &output, &writer->err);
    return NULL;
}

static void runs_git_again_when_a_lock_got_in_between(void **state)
{
    struct world *w = *state;
    struct writer writer = { .repo = must_open(w, "repo"), .budget = long_budget() };
    al_auto(al_freep) char *status = NULL;

    assert_int_equal(al_write_lock_acquire_with_index(writer.repo, &writer.budget, NULL), 0);
    tmpdir_write(w->repo, "b.txt", "x\n");
    lock_index(w);
    assert_int_equal(pthread_create(&writer.thread, NULL, stage_all, &writer), 0);
    await_watch(); /* so git has failed on it */
    unlock_index(w);
    assert_int_equal(finish(&writer), 0);
    status = git_output(w->repo, "status", "--porcelain", NULL);
    assert_string_equal(status, "A  b.txt\n");
}

/* A writer nobody could wake again would wait until it is cancelled. */
static void does_not_wait_where_nobody_can_wake_it(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *first = must_open(w, "repo");
    al_auto(repo_freep) struct al_repo *second = must_open(w, "repo");
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct rlimit old, none;
    int r;

    assert_int_equal(al_write_lock_acquire(first, NULL, NULL), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = (struct rlimit){ .rlim_cur = 0, .rlim_max = old.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    r = al_write_lock_acquire(second, NULL, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(r, AL_ERR_EXECUTION);
    assert_non_null(strstr(err.message, "cannot wait for the write lock"));
    assert_int_equal(count_turns(w->git), 1);
    al_write_lock_release(first);
    assert_int_equal(al_write_lock_acquire(second, NULL, NULL), 0);
    al_write_lock_release(second);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(lets_writers_work_in_order_of_arrival),
        WORLD_TEST(lets_writers_of_other_repositories_work_at_once),
        WORLD_TEST(makes_linked_worktrees_wait_for_each_other),
        WORLD_TEST(refuses_the_turn_that_would_close_a_circle),
        WORLD_TEST(takes_no_second_turn_of_one_repository),
        WORLD_TEST(gives_up_its_place_when_cancelled),
        WORLD_TEST(hands_its_turn_on_when_it_is_freed),
        WORLD_TEST(waits_for_a_foreign_index_lock),
        WORLD_TEST(sees_a_lock_that_becomes_the_index),
        WORLD_TEST(stops_waiting_for_the_lock_when_cancelled),
        WORLD_TEST(says_that_the_lock_does_not_go_away),
        WORLD_TEST(runs_git_again_when_a_lock_got_in_between),
        WORLD_TEST(does_not_wait_where_nobody_can_wake_it),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/turn", tests, NULL, NULL);
}
