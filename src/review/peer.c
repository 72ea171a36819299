// SPDX-License-Identifier: Apache-2.0
#include "review/peer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/fs.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* since Linux 6.5 */
#endif

/* A longer line of ancestors is not believed. */
#define DEPTH_MAX 256

/* The parent of a process; 0: none that is seen from here; -1: unknown. */
static pid_t parent_of(pid_t pid)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char path[40];
    int64_t parent = 0;
    const char *at;

    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    if (al_fs_read(AT_FDCWD, path, 4096, &text) < 0)
        return -1;
    at = strrchr(text.buf, ')'); /* the name before it may have any character */
    if (!at || at[1] != ' ' || !at[2] || at[3] != ' ')
        return -1;
    for (at += 4; *at >= '0' && *at <= '9' && parent <= INT32_MAX; at++)
        parent = parent * 10 + (*at - '0');
    return *at == ' ' && parent <= INT32_MAX ? (pid_t)parent : -1;
}

static bool is_this_program(pid_t pid)
{
    struct stat own, other;
    char path[40];

    (void)snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
    return stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static bool is_server(pid_t pid, int dir_fd)
{
    char name[40];

    (void)snprintf(name, sizeof(name), "%ld.sock", (long)pid);
    return pid == getpid() || faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
           is_this_program(pid);
}

static const char *check_ancestors(pid_t peer, int dir_fd)
{
    pid_t pid = parent_of(peer);

    for (int depth = 0; depth < DEPTH_MAX; depth++, pid = parent_of(pid)) {
        if (pid > 0 && is_server(pid, dir_fd))
            return "a program that an airlock server started cannot answer its questions";
        if (!pid) /* the first process, or one that was put into this container */
            return NULL;
        if (pid < 0)
            return "the processes above this one cannot be looked at";
    }
    return "too many processes lie above this one";
}

const char *al_review_peer_check(int fd, int dir_fd)
{
    struct ucred peer = { .uid = (uid_t)-1 };
    socklen_t len = sizeof(peer), pidfd_len = sizeof(int);
    al_auto(al_closep) int pidfd = -1;
    const char *why;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.uid != geteuid())
        return "the questions are another user's";
    if (peer.pid <= 0)
        return "the process lies in another container";
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &pidfd_len) < 0)
        pidfd = -1;
    why = check_ancestors(peer.pid, dir_fd);
    /* Had the peer ended, its number could be another process's by now. */
    if (!why && pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0)
        return "the process has ended";
    return why;
}
