// SPDX-License-Identifier: Apache-2.0
#include "proc/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "proc/reaper.h"

/* Blocked in the held process from its beginning on. */
static sigset_t both_signals(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, AL_HOLD_ENDED);
    (void)sigaddset(&set, AL_HOLD_DROPPED);
    return set;
}

/* The starter of a hook, for a client that is not known, ends with the hook, and so at the latest
 * after this time. */
#define SETTLE_MS 2000

/* pidfds of the client alone, or of the processes above this one, the next one first. */
static int above[16];
static size_t nabove;

/* The process group tells nothing: it may be the client's own. */
static void open_above(pid_t client)
{
    for (pid_t pid = client ? client : getppid(); pid > 0 && nabove < AL_COUNT(above);
         pid = client ? 0 : al_pid_parent(pid))
        above[nabove++] = (int)syscall(SYS_pidfd_open, pid, 0);
}

/* The next process above that is still there; -1: there is none. */
static int find_client(void)
{
    for (size_t i = 0; i < nabove; i++)
        if (above[i] >= 0 && !al_hold_await(above[i], 0))
            return above[i];
    return -1;
}

static void settle(void)
{
    const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    const sigset_t set = both_signals();

    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)setsid();
    for (int i = 0; fd >= 0 && i <= STDERR_FILENO; i++)
        (void)dup2(fd, i);
    al_close(fd);
}

pid_t al_hold_begin(pid_t client, int *ret_fd)
{
    int fds[2];
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    open_above(client);
    pid = fork();
    if (pid < 0)
        pid = -errno;
    if (pid == 0)
        settle();
    *ret_fd = fds[pid == 0];
    al_close(fds[pid != 0]);
    if (pid < 0)
        al_close(*ret_fd);
    return pid;
}

bool al_hold_await(int fd, int64_t deadline_ms)
{
    struct pollfd wanted = { .fd = fd, .events = POLLIN };
    const int64_t left = deadline_ms - al_clock_ms();

    return poll(&wanted, 1, left > 0 ? (int)left : 0) > 0;
}

/* Whether one of the signals waits to be taken by a process. */
static bool is_told(pid_t pid)
{
    static const char pending[] = "\nShdPnd:";
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *path = al_asprintf("/proc/%ld/status", (long)pid);
    const char *found =
        al_fs_read(AT_FDCWD, path, 65536, &text) < 0 ? NULL : strstr(text.buf, pending);
    const uint64_t set = found ? strtoull(found + sizeof(pending) - 1, NULL, 16) : 0;

    return set & (UINT64_C(1) << (AL_HOLD_ENDED - 1) | UINT64_C(1) << (AL_HOLD_DROPPED - 1));
}

bool al_hold_is_over(void)
{
    return is_told(getpid());
}

enum al_hold_end al_hold_wait(void)
{
    struct pollfd wanted[2] = { { .events = POLLIN }, { .events = POLLIN } };
    struct signalfd_siginfo info = { .ssi_signo = 0 };
    const sigset_t set = both_signals();

    wanted[0].fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (nabove == 1 || !al_hold_await(wanted[0].fd, al_clock_ms() + SETTLE_MS)) {
        wanted[1].fd = find_client();
        while (wanted[1].fd >= 0 && poll(wanted, 2, -1) < 0 && errno == EINTR)
            continue;
    }
    if (!al_hold_await(wanted[0].fd, 0) || read(wanted[0].fd, &info, sizeof(info)) < 0)
        info.ssi_signo = 0;
    al_close(wanted[0].fd);
    return info.ssi_signo == AL_HOLD_ENDED ? AL_HOLD_ENDED : AL_HOLD_DROPPED;
}

int al_hold_end(pid_t pid, enum al_hold_end how)
{
    al_auto(al_closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd >= 0 && is_told(pid))
        return -EALREADY;
    return fd < 0 || syscall(SYS_pidfd_send_signal, fd, how, NULL, 0) < 0 ? -errno
                                                                          : al_take_fd(&fd);
}
