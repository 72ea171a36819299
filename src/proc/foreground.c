// SPDX-License-Identifier: Apache-2.0
#include "proc/foreground.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* al_proc_init() has changed these. */
static const int ignored[] = { SIGPIPE, SIGXFSZ, SIGIO, SIGCHLD };

static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

static int start(char *const *argv, const sigset_t *mask, pid_t *ret_pid)
{
    posix_spawnattr_t attributes;
    sigset_t defaults;
    int r = posix_spawnattr_init(&attributes);

    if (r)
        return r;
    (void)sigemptyset(&defaults);
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        (void)sigaddset(&defaults, ignored[i]);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
    (void)posix_spawnattr_setsigmask(&attributes, mask);
    r = posix_spawnp(ret_pid, argv[0], NULL, &attributes, argv, environ);
    (void)posix_spawnattr_destroy(&attributes);
    return r;
}

/* Whether it has ended, with its exit code as a shell has it. */
static bool has_ended(pid_t pid, int *ret_code)
{
    int status;

    if (waitpid(pid, &status, WNOHANG) != pid)
        return false;
    *ret_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

int al_proc_run_foreground(char *const *argv, int *ret_code, struct al_error *err)
{
    sigset_t set, before;
    siginfo_t info;
    pid_t pid = -1;
    int r;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
        (void)sigaddset(&set, forwarded[i]);
    (void)pthread_sigmask(SIG_BLOCK, &set, &before);
    /* What the command leaves running is not ours to end. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    r = start(argv, &before, &pid);
    if (r) {
        *ret_code = r == ENOENT ? 127 : 126;
        r = al_error_errno(err, r, "cannot run '%s'", argv[0]);
    }
    while (pid > 0 && !has_ended(pid, ret_code))
        if (sigwaitinfo(&set, &info) > 0 && info.si_signo != SIGCHLD && info.si_code <= 0)
            (void)kill(pid, info.si_signo);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return r;
}
