// SPDX-License-Identifier: Apache-2.0
/* A layer that cannot be installed is an error, and nothing runs without it. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/unit/proc/lib.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self  446
#endif

/* Makes one system call fail with ENOSYS in this process, as on a kernel without it. */
static void forget_system_call(unsigned number)
{
    struct sock_filter rows[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { .len = COUNT(rows), .filter = rows };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        _exit(100);
}

/* Runs a function in a forked copy of this process; its result is the exit code. */
static int ask_in_a_fork(int (*question)(void))
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(question());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int build_without_landlock(void)
{
    const struct al_confine_rule rule = { .path = "/usr", .rights = AL_RIGHT_READ };
    int ruleset_fd = 0;

    forget_system_call(SYS_landlock_create_ruleset);
    return al_confine_abi() == 0 ? -al_ruleset_new(&rule, 1, false, &ruleset_fd, NULL) : 101;
}

static int run_without_restrict_self(void)
{
    const struct al_confine_rule rules[] = { { .path = "/", .rights = AL_RIGHT_READ },
                                             { .path = "/bin/sh", .rights = AL_RIGHT_EXECUTE } };
    struct al_confinement sandbox = { .no_sockets = false };
    struct al_proc_spec spec = SHELL_SPEC("echo ran");
    int ruleset_fd = 0;
    struct outcome got;

    if (al_ruleset_new(rules, COUNT(rules), false, &ruleset_fd, NULL) < 0 ||
        al_proc_init(NULL, NULL) < 0)
        return 101;
    forget_system_call(SYS_landlock_restrict_self);
    sandbox.ruleset_fd = ruleset_fd;
    spec.sandbox = &sandbox;
    got = run(&spec);
    return got.out.total == 0 ? -got.r : 102;
}

static int run_without_seccomp(void)
{
    const struct al_confinement sandbox = { .no_sockets = true };
    struct al_proc_spec spec = SHELL_SPEC("echo ran");
    struct outcome got;

    if (al_proc_init(NULL, NULL) < 0)
        return 101;
    forget_system_call(SYS_seccomp);
    spec.sandbox = &sandbox;
    got = run(&spec);
    return got.out.total == 0 ? -got.r : 102;
}

/* Makes the kernel refuse a listener, as where another one listens already. */
static void forget_listeners(void)
{
    struct sock_filter rows[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EBUSY),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { .len = COUNT(rows), .filter = rows };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        _exit(100);
}

static void decide_nothing(void *payload, const struct al_watch_event *event,
                           struct al_watch_answer *ret_answer)
{
    (void)payload;
    (void)event;
    (void)ret_answer;
}

static int run_without_listeners(bool is_required)
{
    const struct al_confinement sandbox = { .no_sockets = true };
    const struct al_watch watch = { .decide = decide_nothing, .is_required = is_required };
    struct al_proc_spec spec = SHELL_SPEC("echo ran");
    struct outcome got;

    if (al_proc_init(NULL, NULL) < 0)
        return 101;
    forget_listeners();
    spec.sandbox = &sandbox;
    spec.watch = &watch;
    got = run(&spec);
    if (al_watch_is_possible() || (got.out.total == 0) != is_required)
        return 102;
    return -got.r;
}

static int run_unwatched(void)
{
    return run_without_listeners(false);
}

static int refuse_unwatched(void)
{
    return run_without_listeners(true);
}

static int watch_without_memory(void)
{
    return prctl(PR_SET_DUMPABLE, 0) < 0 ? 100 : al_watch_is_possible();
}

static int watch(void)
{
    return al_watch_is_possible();
}

static void says_when_a_child_cannot_be_watched(void **state)
{
    (void)state;
    assert_int_equal(ask_in_a_fork(watch), 1);
    assert_int_equal(ask_in_a_fork(run_unwatched), 0);
    assert_int_equal(ask_in_a_fork(refuse_unwatched), -AL_ERR_SANDBOX);
    if (geteuid() != 0) /* who may read all memory */
        assert_int_equal(ask_in_a_fork(watch_without_memory), 0);
}

static void a_missing_layer_is_an_error_and_nothing_runs(void **state)
{
    (void)state;
    assert_int_equal(ask_in_a_fork(run_without_restrict_self), -AL_ERR_SANDBOX);
    assert_int_equal(ask_in_a_fork(run_without_seccomp), -AL_ERR_SANDBOX);
}

static void says_when_the_kernel_has_no_landlock(void **state)
{
    (void)state;
    assert_int_equal(ask_in_a_fork(build_without_landlock), -AL_ERR_SANDBOX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_when_the_kernel_has_no_landlock),
        cmocka_unit_test(a_missing_layer_is_an_error_and_nothing_runs),
        cmocka_unit_test(says_when_a_child_cannot_be_watched),
    };

    return cmocka_run_group_tests_name("layers", tests, NULL, NULL);
}
