// SPDX-License-Identifier: Apache-2.0
/* git/repo/write_lock.h: one writer of a repository at a time among processes. */
#include "git/repo/write_lock.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "git/layer.h"
#include "tests/unit/git/repo/write_lock_lib.h"

/* What a writer is told. */
struct told {
    struct al_str lines; /* NULL is written as "." */
    int gate[2];         /* a byte for each line */
};

static void tell(void *payload, const char *line)
{
    struct told *told = payload;

    al_str_addf(&told->lines, "%s\n", line ? line : ".");
    assert_int_equal(write(told->gate[1], "x", 1), 1);
}

static void await_line(const struct told *told)
{
    char byte;

    assert_int_equal(read(told->gate[0], &byte, 1), 1);
}

struct dirs {
    struct tmpdir *locks, *repo, *other;
};

static int setup(void **state)
{
    struct dirs *dirs = al_calloc(1, sizeof(*dirs));

    dirs->locks = tmpdir_new();
    dirs->repo = tmpdir_new();
    dirs->other = tmpdir_new();
    *state = dirs;
    return 0;
}

static int teardown(void **state)
{
    struct dirs *dirs = *state;

    tmpdir_free(dirs->locks);
    tmpdir_free(dirs->repo);
    tmpdir_free(dirs->other);
    free(dirs);
    return 0;
}

/* The lock is that of one process, whose private directory is called so. */
static int take_as(const struct dirs *dirs, const char *process, const struct tmpdir *repo,
                   struct al_run_limits *budget, int *ret_fd, struct al_error *err)
{
    al_auto(al_freep) char *lock_dir = al_fs_join(dirs->locks->path, "locks");
    al_auto(al_freep) char *private_dir = al_strdup(process);
    struct al_git git = { .lock_dir = lock_dir, .private_dir = private_dir };
    struct al_repo taken = { .at = { .git = &git, .common_dir = repo->path }, .write_fd = -1 };
    int r = al_write_lock_acquire(&taken, budget, err);

    *ret_fd = taken.write_fd;
    return r;
}

static int take(const struct dirs *dirs, const struct tmpdir *repo, struct al_run_limits *budget,
                int *ret_fd, struct al_error *err)
{
    return take_as(dirs, "/other", repo, budget, ret_fd, err);
}

static void release(int fd)
{
    al_write_lock_release(&(struct al_repo){ .write_fd = fd });
}

static int must_take(const struct dirs *dirs, const char *caller)
{
    struct al_run_limits budget = { .left_ms = LONG_MS, .caller = caller };
    int fd = -1;

    assert_int_equal(take_as(dirs, "/one", dirs->repo, &budget, &fd, NULL), 0);
    assert_int_equal(budget.left_ms, LONG_MS); /* nothing to wait for costs nothing */
    return fd;
}

/* A process that holds the lock until it is killed. */
static pid_t hold_elsewhere(const struct dirs *dirs)
{
    int gate[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(gate), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)must_take(dirs, "git_add of agent one");
        _exit(write(gate[1], "x", 1) == 1 ? pause() : 1);
    }
    assert_int_equal(read(gate[0], &byte, 1), 1);
    close(gate[0]);
    close(gate[1]);
    return pid;
}

static void kill_and_reap(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void is_held_until_it_is_released(void **state)
{
    const struct dirs *dirs = *state;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_run_limits budget = { .left_ms = 1 }, long_one = long_budget();
    int first = must_take(dirs, "git_add of agent one"), second = -1, other = -1;

    assert_int_equal(take(dirs, dirs->repo, &budget, &second, &err), AL_ERR_EXECUTION);
    assert_int_equal(err.code, AL_CODE_LOCK_TIMEOUT);
    assert_true(al_starts_with(err.message, "Another writer has this repository: git_add of agent "
                                            "one (process "));
    assert_non_null(strstr(err.message, "), since 20"));
    assert_int_equal(second, -1);
    assert_int_equal(take(dirs, dirs->other, &long_one, &other, NULL), 0); /* another repository */
    release(first);
    second = must_take(dirs, NULL);
    release(second);
    release(other);
    release(-1);
}

static void a_killed_holder_leaves_no_lock(void **state)
{
    const struct dirs *dirs = *state;
    pid_t pid = hold_elsewhere(dirs);
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *expected = al_asprintf("(process %d)", (int)pid);
    struct al_run_limits budget = { .left_ms = 1 };
    int fd = -1;

    assert_int_equal(take(dirs, dirs->repo, &budget, &fd, &err), AL_ERR_EXECUTION);
    assert_non_null(strstr(err.message, expected));
    kill_and_reap(pid);
    release(must_take(dirs, NULL));
}

struct waiter {
    const struct dirs *dirs;
    struct al_run_limits budget;
    struct told told;
    int fd, r;
    struct al_error err;
    pthread_t thread;
};

static void *wait_for_lock(void *payload)
{
    struct waiter *waiter = payload;

    waiter->r = take(waiter->dirs, waiter->dirs->repo, &waiter->budget, &waiter->fd, &waiter->err);
    return NULL;
}

static void begin(struct waiter *waiter, const struct dirs *dirs)
{
    *waiter = (struct waiter){ .dirs = dirs, .fd = -1, .told.lines = AL_STR_INIT };
    assert_int_equal(pipe(waiter->told.gate), 0);
    waiter->budget = (struct al_run_limits){ .left_ms = LONG_MS,
                                             .cancel = al_cancel_new(),
                                             .on_lock_wait = { tell, &waiter->told } };
    assert_int_equal(pthread_create(&waiter->thread, NULL, wait_for_lock, waiter), 0);
}

static void end(struct waiter *waiter)
{
    release(waiter->fd);
    al_str_clear(&waiter->told.lines);
    close(waiter->told.gate[0]);
    close(waiter->told.gate[1]);
    al_cancel_unref(waiter->budget.cancel);
    al_error_clear(&waiter->err);
}

static void who_waits_is_told_for_whom_and_wakes_up(void **state)
{
    const struct dirs *dirs = *state;
    al_auto(al_freep) char *beginning = NULL;
    struct waiter released, killed;
    int fd = must_take(dirs, "git_commit of agent two");
    pid_t pid;

    begin(&released, dirs);
    await_line(&released.told);
    release(fd);
    assert_int_equal(pthread_join(released.thread, NULL), 0);
    assert_int_equal(released.r, 0);
    beginning = al_asprintf("waiting for another writer of this repository: git_commit of agent "
                            "two (process %d), since 20",
                            (int)getpid());
    assert_true(al_starts_with(released.told.lines.buf, beginning));
    assert_true(al_ends_with(released.told.lines.buf, "\n.\n"));
    assert_in_range(released.budget.left_ms, 1, LONG_MS - 1);
    end(&released);

    pid = hold_elsewhere(dirs);
    begin(&killed, dirs);
    await_line(&killed.told);
    kill_and_reap(pid);
    assert_int_equal(pthread_join(killed.thread, NULL), 0);
    assert_int_equal(killed.r, 0);
    end(&killed);
}

static void who_waits_can_be_cancelled(void **state)
{
    const struct dirs *dirs = *state;
    struct waiter waiter;
    int fd = must_take(dirs, NULL);

    begin(&waiter, dirs);
    await_line(&waiter.told);
    al_cancel_fire(waiter.budget.cancel);
    assert_int_equal(pthread_join(waiter.thread, NULL), 0);
    assert_int_equal(waiter.r, AL_ERR_CANCELLED);
    assert_int_equal(waiter.fd, -1);
    end(&waiter);
    release(fd);
    release(must_take(dirs, NULL)); /* its place in the line is free, too */
}

static void what_a_file_says_is_made_safe(void **state)
{
    const struct dirs *dirs = *state;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_run_limits budget = { .left_ms = 1 };
    static const char text[] = "git_add\033[2J of \xff\nsecond line";
    int fd = must_take(dirs, NULL), other = -1;

    assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
    assert_int_equal(take(dirs, dirs->repo, &budget, &other, &err), AL_ERR_EXECUTION);
    assert_string_equal(err.message, "Another writer has this repository: git_add of <FF>");
    release(fd);
}

static void refuses_where_no_file_can_be_locked(void **state)
{
    const struct dirs *dirs = *state;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_run_limits budget = long_budget();
    int fd = -1;

    tmpdir_write(dirs->locks, "locks", "a file in the place of the directory");
    assert_int_equal(take(dirs, dirs->repo, &budget, &fd, &err), AL_ERR_EXECUTION);
    assert_non_null(strstr(err.message, "cannot lock the repository for writing"));
    assert_int_equal(fd, -1);
}

#define DIRS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        DIRS_TEST(is_held_until_it_is_released),
        DIRS_TEST(a_killed_holder_leaves_no_lock),
        DIRS_TEST(who_waits_is_told_for_whom_and_wakes_up),
        DIRS_TEST(who_waits_can_be_cancelled),
        DIRS_TEST(what_a_file_says_is_made_safe),
        DIRS_TEST(refuses_where_no_file_can_be_locked),
    };

    return cmocka_run_group_tests_name("gitops/repo/shared_lock", tests, NULL, NULL);
}
