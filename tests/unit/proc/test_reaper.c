// SPDX-License-Identifier: Apache-2.0
/* proc/reaper.h: what a child leaves behind ends with it; other children do not. */
#include "proc/reaper.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/fs.h"
#include "base/str.h"
#include "tests/lib/tmpdir.h"
#include "tests/unit/proc/lib.h"

static pid_t bystander; /* a child from before al_proc_init() */

/*
 * Processes that outlive the child which started them.  Each writes a byte to the fifo `up` first,
 * so that it is known to exist when its parent ends.
 */
static const char *const leavers[] = {
    /* in the group, holding standard output */
    "(echo . >up; exec sleep 600) & read x <up",
    /* ignoring every signal that can be ignored */
    "(trap '' TERM HUP INT; echo . >up; while :; do :; done) & read x <up",
    /* in a session of its own, holding standard output */
    "setsid sh -c 'echo . >up; exec sleep 600' & read x <up",
    /* forked twice, in a session of its own, still writing */
    "(setsid sh -c 'echo . >up; while :; do echo stray; done' &) ; read x <up",
    /* a tree of them */
    "setsid sh -c 'setsid sleep 600 & setsid sleep 600 & echo . >up; sleep 600' & read x <up",
    /* that goes on forking */
    "setsid sh -c 'echo . >up; while :; do (setsid sleep 600 &); done' & read x <up",
};

static int open_fresh(struct tmpdir *dir)
{
    assert_int_equal(mkfifoat(dir->fd, "up", 0600), 0);
    return dir->fd;
}

static void assert_bystander_lives(void)
{
    siginfo_t info = { .si_pid = 0 };

    assert_int_equal(kill(bystander, 0), 0);
    assert_int_equal(waitid(P_PID, (id_t)bystander, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    assert_int_equal(info.si_pid, 0);
}

/* Run it, and check that the bystander is the only child left. */
static struct outcome run_beside_bystander(const struct al_proc_spec *given)
{
    struct outcome outcome = { .out.max_bytes = 1000000 };
    struct al_proc_spec spec = *given;
    struct al_pids pids = { .items = NULL };
    int before = count_descriptors();

    spec.out = al_buffer_sink(&outcome.out);
    outcome.r = al_proc_run(&spec, &outcome.result, &outcome.err);
    assert_int_equal(count_descriptors(), before);
    al_pids_add_scanned(&pids, getpid());
    assert_int_equal(pids.count, 1);
    assert_int_equal(pids.items[0], bystander);
    al_pids_clear(&pids);
    assert_bystander_lives();
    return outcome;
}

static void nothing_outlives_a_child_that_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(leavers); i++) {
        al_auto(al_freep) char *script = al_asprintf("%s; echo end; exit 5", leavers[i]);
        struct tmpdir *dir = tmpdir_new();
        struct al_proc_spec spec = SHELL_SPEC(script);
        al_auto(outcome_clear) struct outcome got = { .r = 0 };

        print_message("  %s\n", leavers[i]);
        spec.cwd_fd = open_fresh(dir);
        got = run_beside_bystander(&spec);
        assert_int_equal(got.r, 0);
        /* The one that writes without end may have reached the cap first. */
        if (!got.result.stopped) {
            assert_int_equal(got.result.exit_code, 5);
            assert_non_null(strstr(got.out.text.buf, "end\n"));
        }
        tmpdir_free(dir);
    }
}

static void nothing_outlives_a_child_that_is_killed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(leavers); i++) {
        al_auto(al_freep) char *script = al_asprintf("%s; sleep 600", leavers[i]);
        struct tmpdir *dir = tmpdir_new();
        struct al_proc_spec spec = SHELL_SPEC(script);
        al_auto(outcome_clear) struct outcome got = { .r = 0 };

        print_message("  %s\n", leavers[i]);
        spec.cwd_fd = open_fresh(dir);
        spec.timeout_ms = 200;
        got = run_beside_bystander(&spec);
        if (!got.result.stopped)
            assert_int_equal(got.r, AL_ERR_TIMEOUT);
        tmpdir_free(dir);
    }
}

struct run_in_thread {
    struct al_proc_spec spec;
    struct outcome outcome;
    pthread_t thread;
};

static void *thread_main(void *payload)
{
    struct run_in_thread *self = payload;

    self->outcome.out.max_bytes = 1000;
    self->spec.out = al_buffer_sink(&self->outcome.out);
    self->outcome.r = al_proc_run(&self->spec, &self->outcome.result, &self->outcome.err);
    return NULL;
}

/* Open a fifo for reading, and wait for the first byte. */
static void await(const struct tmpdir *dir, const char *fifo)
{
    int fd = openat(dir->fd, fifo, O_RDONLY | O_CLOEXEC);
    char c;

    assert_true(fd >= 0);
    assert_int_equal(read(fd, &c, 1), 1);
    close(fd);
}

static void tell(const struct tmpdir *dir, const char *fifo)
{
    int fd = openat(dir->fd, fifo, O_WRONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "\n", 1), 1);
    close(fd);
}

/* One child has an orphan in its session that it needs; another one's end must not take it. */
static void a_sweep_spares_orphans_of_children_at_work(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    struct run_in_thread worker = {
        .spec = SHELL_SPEC("(sh -c 'echo . >up; read x <down; echo orphan >back' &); "
                           "read x <back; echo $x"),
    };
    const struct al_proc_spec other = SHELL_SPEC("setsid sleep 600 & :");
    struct outcome got = { .out.max_bytes = 10 };

    (void)state;
    al_proc_set_jobs(2);
    assert_int_equal(mkfifoat(dir->fd, "down", 0600), 0);
    assert_int_equal(mkfifoat(dir->fd, "back", 0600), 0);
    worker.spec.cwd_fd = open_fresh(dir);
    assert_int_equal(pthread_create(&worker.thread, NULL, thread_main, &worker), 0);
    await(dir, "up");
    got.r = al_proc_run(&other, &got.result, &got.err);
    assert_int_equal(got.r, 0);
    tell(dir, "down");
    assert_int_equal(pthread_join(worker.thread, NULL), 0);
    assert_int_equal(worker.outcome.r, 0);
    assert_string_equal(worker.outcome.out.text.buf, "orphan\n");
    assert_bystander_lives();
    outcome_clear(&got);
    outcome_clear(&worker.outcome);
    tmpdir_free(dir);
}

static void kill_all_ends_every_child_and_what_left_them(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    struct run_in_thread worker = {
        .spec = SHELL_SPEC("(setsid sh -c 'echo . >up; exec sleep 600' &); sleep 600"),
    };

    (void)state;
    worker.spec.cwd_fd = open_fresh(dir);
    assert_int_equal(pthread_create(&worker.thread, NULL, thread_main, &worker), 0);
    await(dir, "up");
    al_proc_kill_all();
    assert_int_equal(pthread_join(worker.thread, NULL), 0);
    assert_int_equal(worker.outcome.r, 0);
    assert_int_equal(worker.outcome.result.signal, SIGKILL);
    assert_bystander_lives();
    outcome_clear(&worker.outcome);
    tmpdir_free(dir);
}

/* A server process: it starts the child and waits for it until it is killed. */
static pid_t start_server(struct tmpdir *dir, uint32_t grace_ms)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        struct al_proc_spec spec = SHELL_SPEC("echo $$ >up; exec sleep 600");
        struct al_proc_result result;

        spec.grace_ms = grace_ms;
        spec.cwd_fd = dir->fd;
        (void)al_proc_run(&spec, &result, NULL);
        _exit(0);
    }
    return pid;
}

/* The signal that ended the child of a server that was killed. */
static int signal_after_kill(uint32_t grace_ms)
{
    struct tmpdir *dir = tmpdir_new();
    siginfo_t info = { .si_pid = 0 };
    al_auto(al_closep) int up = -1;
    char line[16] = "";
    pid_t server, child;

    (void)open_fresh(dir);
    server = start_server(dir, grace_ms);
    up = openat(dir->fd, "up", O_RDONLY | O_CLOEXEC);
    assert_true(read(up, line, sizeof(line) - 1) > 0);
    child = (pid_t)strtol(line, NULL, 10);
    assert_int_equal(kill(server, SIGKILL), 0);
    assert_int_equal(waitpid(server, NULL, 0), server);
    /* This process adopts it. */
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED), 0);
    assert_int_equal(info.si_code, CLD_KILLED);
    tmpdir_free(dir);
    return info.si_status;
}

static void a_child_ends_with_a_server_that_is_killed(void **state)
{
    (void)state;
    assert_int_equal(signal_after_kill(0), SIGKILL);
    assert_int_equal(signal_after_kill(LONG_MS), SIGTERM);
}

static void the_list_and_the_scan_find_the_same_children(void **state)
{
    struct al_pids listed = { .items = NULL }, scanned = { .items = NULL };

    (void)state;
    assert_true(al_pids_add_listed(&listed, getpid()));
    al_pids_add_scanned(&scanned, getpid());
    assert_int_equal(listed.count, 1);
    assert_int_equal(scanned.count, 1);
    assert_int_equal(listed.items[0], bystander);
    assert_int_equal(scanned.items[0], bystander);
    assert_true(al_pids_contain(&listed, bystander));
    assert_false(al_pids_contain(&listed, getpid()));
    al_pids_clear(&listed);
    al_pids_clear(&scanned);
}

static int set_up(void **state)
{
    char *const argv[] = { (char *)"sleep", (char *)"600", NULL };

    (void)state;
    (void)root_fd();
    if (posix_spawn(&bystander, "/bin/sleep", NULL, NULL, argv, environ) != 0)
        return -1;
    return al_proc_init("/bin/sh", NULL);
}

static int tear_down(void **state)
{
    (void)state;
    kill(bystander, SIGKILL);
    return waitpid(bystander, NULL, 0) == bystander ? 0 : -1;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_outlives_a_child_that_ends),
        cmocka_unit_test(nothing_outlives_a_child_that_is_killed),
        cmocka_unit_test(a_sweep_spares_orphans_of_children_at_work),
        cmocka_unit_test(kill_all_ends_every_child_and_what_left_them),
        cmocka_unit_test(a_child_ends_with_a_server_that_is_killed),
        cmocka_unit_test(the_list_and_the_scan_find_the_same_children),
    };

    return cmocka_run_group_tests_name("proc/reaper", tests, set_up, tear_down);
}
