// SPDX-License-Identifier: Apache-2.0
/*
 * The only code between clone and execve.
 *
 * Rules: system calls only, by number, because a sanitizer may replace libc's wrappers; no
 * allocation, no locks, no stdio; writes only to the stack and to the report.
 */
#include "proc/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define no_sanitize_fn      __attribute__((noinline, no_sanitize("address", "undefined", "thread")))

#define KERNEL_SIGNALS      64
#define KERNEL_SIGSET_BYTES 8

/*
 * The kernel ends the child with its parent, since a parent killed by SIGKILL cannot.  The signal
 * is tied to the thread that called clone, which outlives the child, and it survives execve.  The
 * kernel sends nothing if the parent ended before this call, so the parent is checked afterwards.
 */
no_sanitize_fn static long end_with_parent(const struct al_child_plan *plan)
{
    if (syscall(SYS_prctl, PR_SET_PDEATHSIG, plan->death_signal, 0, 0, 0) < 0)
        return -1;
    return syscall(SYS_getppid) == plan->parent ? 0 : -1;
}

no_sanitize_fn static long set_streams(const struct al_child_plan *plan)
{
    for (int fd = 0; fd < 3; fd++) {
        if (syscall(SYS_dup3, plan->stream_fds[fd], fd, 0) < 0)
            return -1;
    }
    return 0;
}

/* The child has a copy of the descriptor table, so the flags of the parent's descriptors do not
 * change. */
no_sanitize_fn static long close_others(const struct al_child_plan *plan)
{
    if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
        return -1;
    for (size_t i = 0; i < plan->nkept_fds; i++) {
        if (syscall(SYS_fcntl, plan->kept_fds[i], F_SETFD, 0) < 0)
            return -1;
    }
    return 0;
}

no_sanitize_fn static long set_limits(const struct al_child_plan *plan)
{
    for (size_t i = 0; i < plan->nlimits; i++) {
        const struct al_child_limit *limit = &plan->limits[i];

        if (syscall(SYS_prlimit64, 0, limit->resource, &limit->value, NULL) < 0)
            return -1;
    }
    return 0;
}

/*
 * A signal handler of the parent must never run here, so every disposition becomes the default
 * before signals are unblocked.  A zeroed kernel sigaction is SIG_DFL without flags.
 */
no_sanitize_fn static long reset_signals(const struct al_child_plan *plan)
{
    static const unsigned long defaults[4], nothing;

    for (int number = 1; number <= KERNEL_SIGNALS; number++) {
        if (plan->changed_signals >> (number - 1) & 1)
            (void)syscall(SYS_rt_sigaction, number, defaults, NULL, KERNEL_SIGSET_BYTES);
    }
    return syscall(SYS_rt_sigprocmask, SIG_SETMASK, &nothing, NULL, KERNEL_SIGSET_BYTES);
}

/* Only the child can do this: /proc/self is a link to the directory of the process that looks. */
no_sanitize_fn static long allow_own_proc(const struct al_child_plan *plan)
{
    struct landlock_path_beneath_attr rule = { .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE |
                                                                 LANDLOCK_ACCESS_FS_READ_DIR };

    if (!plan->reads_own_proc)
        return 0;
    rule.parent_fd =
        (int32_t)syscall(SYS_openat, AT_FDCWD, "/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return 0; /* no /proc, so nothing to read */
    return syscall(SYS_landlock_add_rule, plan->ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

/* Returns the number of the step that failed.  Does not return when all steps succeed. */
no_sanitize_fn static int run_steps(const struct al_child_plan *plan)
{
    if (syscall(SYS_setsid) < 0)
        return AL_STEP_SESSION;
    if (end_with_parent(plan) < 0)
        return AL_STEP_PARENT;
    /* Before any call that is told (proc/watch.h): with the signal blocked, the child would wait
     * for an answer for ever, since it has the listener as well until its execve. */
    if (reset_signals(plan) < 0)
        return AL_STEP_SIGNALS;
    if (set_streams(plan) < 0)
        return AL_STEP_STREAMS;
    if (close_others(plan) < 0)
        return AL_STEP_CLOSE;
    if (syscall(SYS_fchdir, plan->cwd_fd) < 0)
        return AL_STEP_DIRECTORY;
    if (set_limits(plan) < 0)
        return AL_STEP_LIMITS;
    if (!plan->keep_setuid && syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return AL_STEP_PRIVILEGES;
    if (plan->ruleset_fd && allow_own_proc(plan) < 0)
        return AL_STEP_LANDLOCK;
    if (plan->ruleset_fd && syscall(SYS_landlock_restrict_self, plan->ruleset_fd, 0) < 0)
        return AL_STEP_LANDLOCK;
    if (plan->filter && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, plan->filter) < 0)
        return AL_STEP_SECCOMP;
    (void)syscall(SYS_execve, plan->program, plan->argv, plan->envp);
    return AL_STEP_EXEC;
}

no_sanitize_fn int al_child_main(void *arg)
{
    const struct al_child_plan *plan = arg;
    struct al_child_report report;

    report.step = run_steps(plan);
    report.error = errno;
    (void)syscall(SYS_write, plan->report_fd, &report, sizeof(report));
    for (;;)
        (void)syscall(SYS_exit_group, 127);
}
