// SPDX-License-Identifier: Apache-2.0
#include "cli/history/follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "util/mem.h"

/* Wait for a change in the journal's directory.  Returns false on a signal, an error, or when the
 * reader of stdout is gone. */
static bool wait_for_change(int watch_fd, int signal_fd)
{
    struct pollfd wait[] = {
        { .fd = watch_fd, .events = POLLIN },
        { .fd = signal_fd, .events = POLLIN },
        { .fd = STDOUT_FILENO, .events = 0 }, /* POLLERR is always reported */
    };
    char events[4096];

    while (poll(wait, AL_COUNT(wait), -1) < 0)
        if (errno != EINTR)
            return false;
    if (wait[1].revents || wait[2].revents)
        return false;
    (void)!read(watch_fd, events, sizeof(events)); /* every event has the same effect */
    return true;
}

int al_follow_watch(const char *file)
{
    al_auto(al_freep) char *dir = al_strndup(file, (size_t)(strrchr(file, '/') - file) + 1);
    al_auto(al_closep) int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

    if (fd < 0 || inotify_add_watch(fd, dir, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
        return -errno;
    return al_take_fd(&fd);
}

int al_follow(int watch_fd, al_follow_fn *more, void *payload)
{
    al_auto(al_closep) int signal_fd = -1;
    sigset_t signals;
    int r;

    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL); /* for the rest of the process */
    signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    if (signal_fd < 0)
        return -errno;
    /* The watch was set before, so a change after more() wakes the poll. */
    do
        r = more(payload);
    while (r == 0 && wait_for_change(watch_fd, signal_fd));
    return r;
}
