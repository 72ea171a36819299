// SPDX-License-Identifier: Apache-2.0
/* git/repo/write_lock.h: a writer waits while another process holds index.lock. */
#include <dirent.h>
#include <pthread.h>

#include "git/command.h"
#include "git/git_lock.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "tests/unit/git/repo/write_lock_lib.h"
#include "verbs/porcelain/commit.h"

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
    assert_true(is_free(w)); /* it waits, and lets others write meanwhile */
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
    assert_true(is_free(w));
}

static void says_that_the_lock_does_not_go_away(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    struct al_run_limits budget = { .left_ms = 1 };

    lock_index(w);
    assert_int_equal(al_write_lock_acquire_with(repo, AL_LOCK_INDEX, &budget, &w->err),
                     AL_ERR_EXECUTION);
    assert_int_equal(w->err.code, AL_CODE_LOCK_TIMEOUT);
    assert_non_null(strstr(w->err.message, "index.lock"));
    assert_null(strstr(w->err.message, w->root->path));
    assert_true(is_free(w));
    unlock_index(w);
    budget = long_budget();
    assert_int_equal(al_write_lock_acquire_with(repo, AL_LOCK_INDEX, &budget, NULL), 0);
    assert_int_equal(budget.left_ms, LONG_MS); /* nothing to wait for costs nothing */
}

/* Stage everything in a thread that holds the lock already. */
static void *stage_all(void *payload)
{
    struct writer *writer = payload;
    const struct al_add_options options = { .mode = AL_ADD_ALL };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    writer->r = al_git_add(writer->repo, &options, 65536, &output, &writer->err);
    return NULL;
}

static void runs_git_again_when_a_lock_got_in_between(void **state)
{
    struct world *w = *state;
    struct writer writer = { .repo = must_open(w, "repo"), .budget = long_budget() };
    al_auto(al_freep) char *status = NULL;

    writer.repo->at.budget = &writer.budget;
    assert_int_equal(al_write_lock_acquire(writer.repo, &writer.budget, NULL), 0);
    tmpdir_write(w->repo, "b.txt", "x\n");
    lock_index(w);
    assert_int_equal(pthread_create(&writer.thread, NULL, stage_all, &writer), 0);
    await_watch(); /* so git has failed on it */
    unlock_index(w);
    assert_int_equal(finish(&writer), 0);
    status = git_output(w->repo, "status", "--porcelain", NULL);
    assert_string_equal(status, "A  b.txt\n");
}

static int check_lock(struct world *w)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    w->budget.left_ms = 20;
    al_error_clear(&w->err);
    return al_index_lock_check(&repo->at, &w->err);
}

static void waits_only_briefly_for_a_lock_without_a_holder(void **state)
{
    struct world *w = *state;
    int fd;

    assert_int_equal(check_lock(w), 0);
    lock_index(w);
    assert_int_equal(check_lock(w), AL_ERR_EXECUTION);
    assert_int_equal(w->err.code, AL_CODE_LOCK_TIMEOUT);
    assert_non_null(strstr(w->err.message, "no git works in the repository"));
    fd = openat(w->repo->fd, ".git/index.lock", O_RDONLY | O_CLOEXEC);
    assert_int_equal(check_lock(w), 0); /* it is held: the call itself waits */
    close(fd);
    assert_int_equal(check_lock(w), AL_ERR_EXECUTION);
    unlock_index(w);
    assert_int_equal(check_lock(w), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(waits_for_a_foreign_index_lock),
        WORLD_TEST(sees_a_lock_that_becomes_the_index),
        WORLD_TEST(stops_waiting_for_the_lock_when_cancelled),
        WORLD_TEST(says_that_the_lock_does_not_go_away),
        WORLD_TEST(runs_git_again_when_a_lock_got_in_between),
        WORLD_TEST(waits_only_briefly_for_a_lock_without_a_holder),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/repo/write_lock_index", tests, NULL, NULL);
}
