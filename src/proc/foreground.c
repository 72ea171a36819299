// SPDX-License-Identifier: Apache-2.0
#include "proc/foreground.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "proc/child.h"
#include "proc/confine.h"
#include "proc/proc.h"
#include "proc/reaper.h"
#include "proc/seccomp.h"

/* --- Handover --- */

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

/* The rest that bubblewrap leaves: abstract sockets with the network, terminals, namespaces, the
 * kernel's keys, and access of one process to another. */
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

/* --- Foreground --- */

#define GITS_MAX 16

extern char **environ;

/* al_proc_init() has changed these. */
static const int ignored[] = { SIGPIPE, SIGXFSZ, SIGIO, SIGCHLD };

static const int forwarded[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                 SIGUSR2, SIGALRM, SIGCONT, SIGWINCH };

struct foreground {
    pid_t pid;
    pid_t command; /* gets the signals: `pid`, or the command in the sandbox */
    int signals_fd;
    int listen_fd; /* of the sandbox; -1: there is none */
    int init_fd;   /* of the sandbox's first process, with which all others end */
    char *const *git;
    pid_t gits[GITS_MAX]; /* 0: none */
};

int al_proc_start(char *const *argv, char *const *env, const sigset_t *mask, short flags,
                  const posix_spawn_file_actions_t *actions, pid_t *ret_pid)
{
    posix_spawnattr_t attributes;
    sigset_t defaults;
    int r = posix_spawnattr_init(&attributes);

    if (r)
        return r;
    (void)sigemptyset(&defaults);
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        (void)sigaddset(&defaults, ignored[i]);
    if (mask) {
        flags |= POSIX_SPAWN_SETSIGMASK;
        (void)posix_spawnattr_setsigmask(&attributes, mask);
    }
    (void)posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETSIGDEF | flags));
    (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
    r = posix_spawnp(ret_pid, argv[0], actions, &attributes, argv, env ? env : environ);
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

/* --- The sandbox --- */

/* A git has a session of its own: the terminal of the sandbox is not one it could read from. */
static void start_git(const struct foreground *self, int connection, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    sigset_t none;

    if (posix_spawn_file_actions_init(&actions))
        return;
    (void)sigemptyset(&none);
    if (posix_spawn_file_actions_adddup2(&actions, connection, AL_HANDOVER_FD) ||
        al_proc_start(self->git, NULL, &none, POSIX_SPAWN_SETSID, &actions, ret_pid))
        *ret_pid = 0;
    (void)posix_spawn_file_actions_destroy(&actions);
}

/* Go on with what can go on without waiting.  Returns how many gits run. */
static size_t serve(struct foreground *self)
{
    size_t running = 0;
    int code;

    for (size_t i = 0; i < GITS_MAX; i++) {
        if (self->gits[i] && has_ended(self->gits[i], &code))
            self->gits[i] = 0;
        if (!self->gits[i] && self->listen_fd >= 0) {
            al_auto(al_closep) int connection = accept4(self->listen_fd, NULL, NULL, SOCK_CLOEXEC);

            if (connection >= 0)
                start_git(self, connection, &self->gits[i]);
        }
        running += self->gits[i] != 0;
    }
    return running;
}

/* Wait until a signal comes, a child ends, or the sandbox wants something. */
static void await(const struct foreground *self, bool is_full)
{
    struct pollfd polled[] = { { .fd = self->signals_fd, .events = POLLIN },
                               { .fd = is_full ? -1 : self->listen_fd, .events = POLLIN } };
    struct signalfd_siginfo info;

    (void)poll(polled, 2, -1);
    while (read(self->signals_fd, &info, sizeof(info)) == sizeof(info))
        if (info.ssi_signo != SIGCHLD && info.ssi_code <= 0 && self->command > 0)
            (void)kill(self->command, (int)info.ssi_signo);
}

/* The parent of the command is the first process of the sandbox. */
static bool know(struct foreground *self, pid_t process)
{
    struct al_pids children = { .items = NULL };

    self->command = process;
    if (!al_pids_add_listed(&children, self->pid))
        al_pids_add_scanned(&children, self->pid);
    if (children.count == 1)
        self->init_fd = (int)syscall(SYS_pidfd_open, children.items[0], 0);
    al_pids_clear(&children);
    return self->init_fd >= 0 && fcntl(self->listen_fd, F_SETFL, O_NONBLOCK) == 0;
}

/* Its signals stay blocked until the command begins: a terminal sends them to bubblewrap too, which
 * must not end before the command does. */
static int start_sandbox(struct foreground *self, char *const *argv, char *const *env,
                         struct al_error *err)
{
    al_auto(al_closep) int error_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 20);
    posix_spawn_file_actions_t actions;
    int pair[2] = { -1, -1 }, said[2] = { -1, -1 }, r = 0;
    char text[512] = "";
    pid_t command = 0;

    if (error_fd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
        pipe2(said, O_CLOEXEC) < 0 || syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) < 0 ||
        setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)) < 0)
        r = errno;
    if (!r && !(r = posix_spawn_file_actions_init(&actions))) {
        (void)posix_spawn_file_actions_adddup2(&actions, said[1], STDERR_FILENO);
        (void)posix_spawn_file_actions_adddup2(&actions, pair[1], AL_HANDOVER_FD);
        (void)posix_spawn_file_actions_adddup2(&actions, error_fd, AL_HANDOVER_ERROR_FD);
        r = al_proc_start(argv, env, NULL, 0, &actions, &self->pid);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    al_close(pair[1]);
    al_close(said[1]);
    if (r) {
        r = al_error_errno(err, r, "cannot run bubblewrap");
    } else if (receive_fds(pair[0], &self->listen_fd, 1, &command) < 0 || !know(self, command) ||
               write(pair[0], "", 1) != 1) {
        (void)kill(self->pid, SIGKILL);
        if (read(said[0], text, sizeof(text) - 1) <= 0)
            text[0] = '\0';
        r = al_error_set(err, AL_ERR_SANDBOX, "bubblewrap makes no sandbox here: %s", text);
    }
    al_close(pair[0]);
    al_close(said[0]);
    return r;
}

/* The rest of the command in the sandbox ends, and every git of it, since nobody is there who waits
 * for it. */
static void end_sandbox(struct foreground *self)
{
    struct pollfd gone = { .fd = self->init_fd, .events = POLLIN };

    if (self->init_fd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, self->init_fd, SIGKILL, NULL, 0);
        (void)poll(&gone, 1, -1);
    }
    self->command = 0;
    al_closep(&self->listen_fd);
    while (serve(self))
        await(self, true);
    al_closep(&self->init_fd);
}

int al_proc_run_foreground(char *const *argv, char *const *env, char *const *git, int *ret_code,
                           struct al_error *err)
{
    struct foreground self = { .git = git, .pid = -1, .listen_fd = -1, .init_fd = -1 };
    sigset_t set, before;
    int r;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
        (void)sigaddset(&set, forwarded[i]);
    (void)pthread_sigmask(SIG_BLOCK, &set, &before);
    self.signals_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    /* Processes that the command leaves running are not ours to end. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    *ret_code = 126;
    if (self.signals_fd < 0) {
        r = al_error_errno(err, errno, "cannot wait for signals");
    } else if (git) {
        r = start_sandbox(&self, argv, env, err);
    } else if ((r = al_proc_start(argv, env, &before, 0, NULL, &self.pid)) != 0) {
        *ret_code = r == ENOENT ? 127 : 126;
        r = al_error_errno(err, r, "cannot run '%s'", argv[0]);
    }
    if (!git)
        self.command = self.pid;
    while (self.pid > 0 && !has_ended(self.pid, ret_code))
        await(&self, serve(&self) == GITS_MAX);
    end_sandbox(&self);
    al_closep(&self.signals_fd);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return r;
}
