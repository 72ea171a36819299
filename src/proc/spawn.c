// SPDX-License-Identifier: Apache-2.0
#include "proc/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "proc/child.h"
#include "proc/seccomp.h"

#define STACK_BYTES  (16u * 1024u) /* the child needs a few hundred */
#define SIGSET_BYTES 8
#define CPU_GRACE_S  5 /* time from SIGXCPU, which a program may ignore, to SIGKILL */

static atomic_uint_fast64_t started;
static uint64_t changed_signals;
static int null_fd = -1;

/*
 * The system call instead of sigaction(), because libc hides the two signals that it uses itself
 * and may give them handlers at any time.  A kernel sigaction begins with the handler.
 */
static void read_signal_dispositions(void)
{
    changed_signals = UINT64_C(1) << (__SIGRTMIN - 1) | UINT64_C(1) << __SIGRTMIN;
    for (int number = 1; number <= SIGSET_BYTES * 8; number++) {
        unsigned long action[4] = { 0 };

        if (syscall(SYS_rt_sigaction, number, NULL, action, SIGSET_BYTES) == 0 &&
            (void (*)(int))action[0] != SIG_DFL)
            changed_signals |= UINT64_C(1) << (number - 1);
    }
}

int al_spawn_init(struct al_error *err)
{
    read_signal_dispositions();
    if (null_fd < 0)
        null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return null_fd < 0 ? al_error_errno(err, errno, "cannot open '/dev/null'") : 0;
}

/* Both ends of all pipes between parent and child while the child starts; -1: not open. */
struct pipes {
    int in;                        /* -1 also for /dev/null */
    int out[2], err[2], report[2]; /* read end, write end */
};

#define PIPES_NONE                                                                                 \
    ((struct pipes){ .in = -1, .out = { -1, -1 }, .err = { -1, -1 }, .report = { -1, -1 } })

static void close_pipes(struct pipes *pipes)
{
    al_closep(&pipes->in);
    for (int i = 0; i < 2; i++) {
        al_closep(&pipes->out[i]);
        al_closep(&pipes->err[i]);
        al_closep(&pipes->report[i]);
    }
}

/* A memfd instead of a pipe, so that the parent never waits for a child that does not read. */
static int open_input(const struct al_proc_spec *spec)
{
    int fd, r;

    if (spec->in_fd)
        return fcntl(spec->in_fd, F_DUPFD_CLOEXEC, 3);
    fd = memfd_create("stdin", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    r = al_write_all(fd, spec->input, spec->input_len);
    if (r == 0 && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (r < 0)
        errno = -r;
    al_close(fd);
    return -1;
}

static int open_pipes(const struct al_proc_spec *spec, struct pipes *pipes, struct al_error *err)
{
    const bool has_input = spec->in_fd || spec->input;

    if (has_input)
        pipes->in = open_input(spec);
    if (has_input && pipes->in < 0)
        return al_error_errno(err, errno, "cannot open standard input");
    if ((!spec->out_fd && pipe2(pipes->out, O_CLOEXEC) < 0) ||
        (!spec->err_fd && !spec->err_to_out && pipe2(pipes->err, O_CLOEXEC) < 0) ||
        pipe2(pipes->report, O_CLOEXEC) < 0)
        return al_error_errno(err, errno, "cannot create a pipe");
    return 0;
}

/* Only a privileged process may raise its hard limit, so a lower one is kept. */
static void add_limit(struct al_child_plan *plan, int resource, uint64_t soft, uint64_t hard)
{
    struct al_child_limit *limit = &plan->limits[plan->nlimits];
    struct rlimit now;

    if (prlimit(0, (__rlimit_resource_t)resource, NULL, &now) == 0 && hard > now.rlim_max)
        hard = now.rlim_max;
    limit->resource = resource;
    limit->value.rlim_max = hard;
    limit->value.rlim_cur = soft < hard ? soft : hard;
    plan->nlimits++;
}

static void add_limits(struct al_child_plan *plan, const struct al_limits *limits)
{
    add_limit(plan, RLIMIT_CORE, 0, 0);
    if (limits->data_bytes)
        add_limit(plan, RLIMIT_DATA, limits->data_bytes, limits->data_bytes);
    if (limits->cpu_s)
        add_limit(plan, RLIMIT_CPU, limits->cpu_s, limits->cpu_s + CPU_GRACE_S);
    if (limits->fsize_bytes)
        add_limit(plan, RLIMIT_FSIZE, limits->fsize_bytes, limits->fsize_bytes);
    if (limits->nofile)
        add_limit(plan, RLIMIT_NOFILE, limits->nofile, limits->nofile);
}

static struct al_child_plan make_plan(const struct al_proc_spec *spec, const struct pipes *pipes)
{
    const struct al_confinement *sandbox = spec->sandbox;
    struct al_child_plan plan = {
        .program = sandbox->exec_once ? al_exec_page_path() : spec->program,
        .argv = spec->argv,
        .envp = spec->envp,
        .parent = getpid(),
        .death_signal = spec->grace_ms && !spec->dies_with_parent ? SIGTERM : SIGKILL,
        .changed_signals = changed_signals,
        .stream_fds = { pipes->in < 0 ? null_fd : pipes->in, pipes->out[1], pipes->err[1] },
        .report_fd = pipes->report[1],
        .kept_fds = spec->kept_fds,
        .nkept_fds = spec->nkept_fds,
        .cwd_fd = spec->cwd_fd,
        .ruleset_fd = sandbox->ruleset_fd,
        .reads_own_proc = sandbox->reads_own_proc,
        .filter = al_filter_get(sandbox),
        .keep_setuid = sandbox->keep_setuid,
    };

    if (spec->out_fd)
        plan.stream_fds[1] = spec->out_fd;
    if (spec->err_fd)
        plan.stream_fds[2] = spec->err_fd;
    if (spec->err_to_out)
        plan.stream_fds[2] = plan.stream_fds[1];
    add_limits(&plan, &sandbox->limits);
    return plan;
}

#ifdef AL_SPAWN_FORK

static pid_t start(struct al_child_plan *plan, int *ret_pidfd)
{
    pid_t pid = fork();

    if (pid == 0)
        (void)al_child_main(plan);
    if (pid < 0)
        return -1;
    *ret_pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (*ret_pidfd < 0) {
        int saved = errno;

        (void)kill(pid, SIGKILL);
        (void)waitid(P_PID, (id_t)pid, NULL, WEXITED);
        errno = saved;
        return -1;
    }
    return pid;
}

#else

/*
 * The child runs in the parent's memory while this thread waits in clone(), so the child's stack
 * can be a part of this thread's stack.
 */
static pid_t start(struct al_child_plan *plan, int *ret_pidfd)
{
    _Alignas(16) char stack[STACK_BYTES];

    return clone(al_child_main, stack + sizeof(stack),
                 CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, plan, ret_pidfd);
}

#endif

/* The input and the result of start_with_signals_blocked(). */
struct starting {
    struct al_child_plan *plan;
    pid_t pid; /* -1: `error` is the errno */
    int pidfd;
    int error;
};

/*
 * Signals stay blocked until the child has reset its dispositions, so that no handler of the parent
 * runs in the child.  The system call instead of sigprocmask(), because libc never blocks the two
 * signals that it uses itself.
 */
static void start_with_signals_blocked(void *payload)
{
    struct starting *starting = payload;
    const uint64_t all = UINT64_MAX;
    uint64_t before = 0;

    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, SIGSET_BYTES);
    starting->pid = start(starting->plan, &starting->pidfd);
    starting->error = errno;
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, SIGSET_BYTES);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int explain(const struct al_proc_spec *spec, const struct al_child_report *report,
                   struct al_error *err)
{
    static const char *const layers[] = {
        [AL_STEP_LIMITS] = "resource limits",
        [AL_STEP_PRIVILEGES] = "no_new_privs",
        [AL_STEP_LANDLOCK] = "Landlock",
        [AL_STEP_SECCOMP] = "seccomp",
    };
    const char *name = base_name(spec->program);

    if (report->step == AL_STEP_EXEC && report->error == ENOENT)
        return al_error_reason(al_error_set(err, AL_ERR_EXECUTION, "%s binary not available", name),
                               err, "not_found");
    if (report->step == AL_STEP_EXEC)
        return al_error_errno(err, report->error, "cannot execute '%s'", name);
    if (report->step == AL_STEP_DIRECTORY)
        return al_error_errno(err, report->error, "cannot start '%s' in its directory", name);
    if ((size_t)report->step < AL_COUNT(layers) && layers[report->step])
        return al_error_set(err, AL_ERR_SANDBOX, "cannot confine '%s': %s: %s", name,
                            layers[report->step], strerror(report->error));
    return al_error_errno(err, report->error, "cannot start '%s' (step %d)", name, report->step);
}

/* Whether the child reported a failure.  End of file means that execve succeeded. */
static bool read_report(int fd, struct al_child_report *report)
{
    ssize_t got;

    do {
        got = read(fd, report, sizeof(*report));
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(*report);
}

/* Start the child on this thread, or on one that is watched.  False: it has to be watched, and
 * cannot be. */
static bool start_on_thread(const struct al_proc_spec *spec, struct starting *starting,
                            struct al_spawned *child)
{
    if (spec->watch && al_watch_is_possible())
        child->watching = al_watch_begin(spec->watch, start_with_signals_blocked, starting);
    if (child->watching)
        return true;
    if (spec->watch && spec->watch->is_required)
        return false;
    start_with_signals_blocked(starting);
    return true;
}

/* Caller holds the sweep lock shared.  Start the child, wait for its execve, and register it. */
static int start_and_register(const struct al_proc_spec *spec, struct pipes *pipes,
                              struct al_spawned *child, struct al_error *err)
{
    struct al_child *ret_child = &child->process;
    struct al_child_plan plan = make_plan(spec, pipes);
    struct starting starting = { .plan = &plan, .pidfd = -1 };
    struct al_child_report report;
    al_auto(al_closep) int pidfd = -1;

    if (!start_on_thread(spec, &starting, child))
        return al_error_set(err, AL_ERR_SANDBOX, "cannot watch '%s'", base_name(spec->program));
    pidfd = starting.pidfd;
    if (starting.pid < 0)
        return al_error_errno(err, starting.error, "cannot start '%s'", base_name(spec->program));
    al_closep(&pipes->report[1]);
    if (read_report(pipes->report[0], &report)) {
        (void)waitid(P_PIDFD, (id_t)pidfd, NULL, WEXITED);
        return explain(spec, &report, err);
    }
    ret_child->pid = starting.pid;
    ret_child->grace_ms = spec->grace_ms;
    ret_child->pidfd = al_take_fd(&pidfd);
    al_children_add(ret_child);
    return 0;
}

static int check(const struct al_proc_spec *spec, struct al_error *err)
{
    const struct al_confinement *sandbox = spec->sandbox;
    const char *exec_path = al_exec_page_path();

    if (spec->program[0] != '/')
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is not an absolute path", spec->program);
    if (sandbox->exec_once && (!exec_path || strcmp(spec->program, exec_path) != 0))
        return al_error_set(err, AL_ERR_SANDBOX, "'%s' is not the exec-once program",
                            spec->program);
    if (sandbox->keep_setuid && (sandbox->ruleset_fd || sandbox->exec_once || sandbox->no_sockets))
        return al_error_set(err, AL_ERR_SANDBOX, "a set-uid program cannot be confined");
    return 0;
}

int al_spawn(const struct al_proc_spec *spec, struct al_spawned *ret_child, struct al_error *err)
{
    al_auto(close_pipes) struct pipes pipes = PIPES_NONE;
    int r = check(spec, err);

    if (r == 0)
        r = open_pipes(spec, &pipes, err);
    if (r < 0)
        return r;
    al_children_lock();
    r = start_and_register(spec, &pipes, ret_child, err);
    al_children_unlock();
    if (r < 0)
        return r;
    atomic_fetch_add(&started, 1);
    ret_child->exec_once = spec->sandbox->exec_once;
    ret_child->out_fd = al_take_fd(&pipes.out[0]);
    ret_child->err_fd = al_take_fd(&pipes.err[0]);
    return 0;
}

void al_spawned_clear(struct al_spawned *child)
{
    al_watch_end(child->watching);
    child->watching = NULL;
    al_closep(&child->process.pidfd);
    al_closep(&child->out_fd);
    al_closep(&child->err_fd);
}

uint64_t al_proc_started(void)
{
    return atomic_load(&started);
}

/* --- Beside the caller --- */

int al_running_start(const struct al_proc_spec *spec, struct al_spawned **ret_running,
                     struct al_error *err)
{
    struct al_spawned *running = al_calloc(1, sizeof(*running));
    int r;

    *running = AL_SPAWNED_INIT;
    r = al_spawn(spec, running, err);
    if (r < 0)
        free(running);
    else
        *ret_running = running;
    return r;
}

struct al_proc_result al_spawned_result(const siginfo_t *info)
{
    const bool exited = info->si_code == CLD_EXITED;

    return (struct al_proc_result){ .exit_code = exited ? info->si_status : -1,
                                    .signal = exited ? 0 : info->si_status };
}

void al_running_end(struct al_spawned *running, struct al_proc_result *ret_result)
{
    struct pollfd ended = { .fd = running->process.pidfd, .events = POLLIN };
    siginfo_t info = { .si_signo = 0 };

    if (poll(&ended, 1, 0) <= 0)
        al_child_kill(&running->process);
    al_child_end(&running->process, running->exec_once, &info);
    *ret_result = al_spawned_result(&info);
    al_spawned_clear(running);
    free(running);
}
