// SPDX-License-Identifier: Apache-2.0
#include "proc/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fs.h"
#include "proc/confine.h"
#include "proc/proc.h"
#include "proc/seccomp.h"

#define STREAMS           3
#define REQUEST_MAX_BYTES (4u << 20)

static const struct sockaddr_un address = { .sun_family = AF_UNIX,
                                            .sun_path = AL_HANDOVER_DIR "/socket" };

/* Descriptors, and who sends them. */
union control {
    struct cmsghdr align;
    char room[CMSG_SPACE(STREAMS * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

/* Send one byte with descriptors. */
static int send_fds(int to, const int *fds, size_t nfds)
{
    union control control = { .room = { 0 } };
    struct iovec byte = { &(char){ 0 }, 1 };
    struct msghdr message = { .msg_iov = &byte,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = CMSG_SPACE(nfds * sizeof(int)) };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(nfds * sizeof(int));
    memcpy(CMSG_DATA(header), fds, nfds * sizeof(int));
    return sendmsg(to, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

/* Receive one byte with exactly so many descriptors. */
static int receive_fds(int from, int *fds, size_t nfds, pid_t *ret_sender)
{
    union control control;
    struct iovec byte = { &(char){ 0 }, 1 };
    struct msghdr message = { .msg_iov = &byte,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = sizeof(control) };
    struct ucred sender;
    bool is_right = false;

    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1)
        return -1;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at; at = CMSG_NXTHDR(&message, at)) {
        if (at->cmsg_type == SCM_RIGHTS && at->cmsg_len == CMSG_LEN(nfds * sizeof(int))) {
            memcpy(fds, CMSG_DATA(at), nfds * sizeof(int));
            is_right = true;
        } else if (at->cmsg_type == SCM_CREDENTIALS && ret_sender) {
            memcpy(&sender, CMSG_DATA(at), sizeof(sender));
            *ret_sender = sender.pid;
        }
    }
    return is_right ? 0 : -1;
}

/* --- Inside --- */

/* What bubblewrap leaves: abstract sockets with the network, terminals, namespaces, the kernel's
 * keys, and access of one process to another. */
static int restrict_self(void)
{
    const struct sock_fprog *filter = al_filter_get(&(struct al_confinement){ .network = true });

    return al_confine_scope() < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
               ? -1
               : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter);
}

/* The listening end goes out, and whoever gets it knows this process before it goes on. */
static int greet(void)
{
    al_auto(al_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char byte;

    return fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
                   listen(fd, SOMAXCONN) < 0 || send_fds(AL_HANDOVER_FD, &fd, 1) < 0 ||
                   read(AL_HANDOVER_FD, &byte, 1) != 1
               ? -1
               : 0;
}

int al_handover_enter(char *const *argv, bool is_first, struct al_error *err)
{
    sigset_t none;
    int code;

    if (is_first) {
        if (restrict_self() < 0 || greet() < 0)
            return (void)al_error_errno(err, errno, "cannot confine the command"), 126;
        (void)dup2(AL_HANDOVER_ERROR_FD, STDERR_FILENO);
        (void)close(AL_HANDOVER_ERROR_FD);
        (void)close(AL_HANDOVER_FD);
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execvp(argv[0], argv);
    code = errno == ENOENT ? 127 : 126;
    (void)al_error_errno(err, errno, "cannot run '%s'", argv[0]);
    return code;
}

static int send_all(int to, const struct al_str *bytes)
{
    for (size_t at = 0; at < bytes->len;) {
        ssize_t n = send(to, bytes->buf + at, bytes->len - at, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    return shutdown(to, SHUT_WR);
}

int al_handover_git(char *const *words, struct al_error *err)
{
    static const int streams[STREAMS] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO };
    al_auto(al_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    al_auto(al_freep) char *here = getcwd(NULL, 0);
    al_auto(al_str_clear) struct al_str request = AL_STR_INIT;
    unsigned char code;

    al_str_add(&request, here ? here : "", (here ? strlen(here) : 0) + 1);
    for (; *words; words++)
        al_str_add(&request, *words, strlen(*words) + 1);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
        send_fds(fd, streams, STREAMS) < 0 || send_all(fd, &request) < 0 ||
        recv(fd, &code, 1, 0) != 1)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the airlock run that this sandbox belongs to does not answer");
    return code;
}

/* --- Outside --- */

int al_handover_greet(int pair_fd, bool (*known)(void *payload, pid_t process), void *payload,
                      int *ret_listen_fd)
{
    pid_t process = 0;

    if (receive_fds(pair_fd, ret_listen_fd, 1, &process) < 0)
        return -1;
    return known(payload, process) && write(pair_fd, "", 1) == 1 ? 0 : -1;
}

static int close_links(const char *root)
{
    const struct mount_attr no_links = { .attr_set = MOUNT_ATTR_NOSYMFOLLOW };

    return (int)syscall(SYS_mount_setattr, AT_FDCWD, root, AT_RECURSIVE, &no_links,
                        sizeof(no_links));
}

int al_handover_take(const char *root, struct al_strv *ret_words)
{
    al_auto(al_str_clear) struct al_str request = AL_STR_INIT;
    struct pollfd gone = { .fd = AL_HANDOVER_FD };
    int fds[STREAMS] = { -1, -1, -1 };
    char part[16384];
    ssize_t n;

    if (close_links(root) < 0 || receive_fds(AL_HANDOVER_FD, fds, STREAMS, NULL) < 0)
        return -1;
    while ((n = read(AL_HANDOVER_FD, part, sizeof(part))) > 0 && request.len <= REQUEST_MAX_BYTES)
        al_str_add(&request, part, (size_t)n);
    if (n || request.len > REQUEST_MAX_BYTES || !request.len || request.buf[request.len - 1])
        return -1;
    for (size_t at = 0; at < request.len; at += strlen(request.buf + at) + 1)
        al_strv_add(ret_words, request.buf + at);
    for (int i = 0; i < STREAMS; i++)
        if (dup2(fds[i], i) < 0)
            return -1;
    return fcntl(AL_HANDOVER_FD, F_SETFD, FD_CLOEXEC) < 0 ||
                   fcntl(AL_HANDOVER_FD, F_SETSIG, SIGTERM) < 0 ||
                   fcntl(AL_HANDOVER_FD, F_SETOWN, getpid()) < 0 ||
                   fcntl(AL_HANDOVER_FD, F_SETFL, O_ASYNC) < 0 || poll(&gone, 1, 0) > 0
               ? -1
               : 0;
}

void al_handover_answer(int code)
{
    (void)send(AL_HANDOVER_FD, &(unsigned char){ (unsigned char)code }, 1, MSG_NOSIGNAL);
}
