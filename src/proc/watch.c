// SPDX-License-Identifier: Apache-2.0
#include "proc/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "proc/proc.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS /* Linux 6.6 */
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#define SYNC_WAKE_UP 1ul /* SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP */

#define IDLE_MS      1 /* between two calls of al_watch.idle */

/* --- The filter --- */

#define ARG_LOW(n) (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (n))
#define TELL       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)
#define ALLOW      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* A system call of this number is told. */
#define TOLD(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), TELL

/* One that opens is told if its flags, argument `n`, have O_TRUNC or O_EXCL. */
#define TOLD_OPEN(number, n)                                                                       \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 4),                                           \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG_LOW(n)),                                            \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TRUNC | O_EXCL, 0, 1), TELL, ALLOW

/* Another calling convention has other numbers; proc/seccomp.c kills such a program. */
static struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    TOLD_OPEN(SYS_openat, 2),
    TOLD(SYS_unlinkat),
    TOLD(SYS_renameat),
    TOLD(SYS_renameat2),
    TOLD(SYS_symlinkat),
#ifdef SYS_open
    TOLD_OPEN(SYS_open, 1),
    TOLD(SYS_unlink),
    TOLD(SYS_rename),
    TOLD(SYS_symlink),
    TOLD(SYS_creat),
#endif
    ALLOW,
};

static const struct sock_fprog filter = { AL_COUNT(code), code };

static int install(void)
{
    const unsigned long listener = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    long fd;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 listener | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &filter);
    if (fd < 0 && errno == EINVAL)
        fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, listener, &filter);
    if (fd >= 0) /* child and answering thread take turns on one processor: each call takes half the
                    time */
        (void)ioctl((int)fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP);
    return (int)fd;
}

/* --- The threads --- */

struct al_watching {
    const struct al_watch *watch;
    void (*start)(void *payload);
    void *payload;
    int listener_fd; /* -1: unwatched */
    int stop_fd;
    pthread_barrier_t step; /* where the caller and the starter meet, see start_child() */
    pthread_t starter, answerer;
    bool has_answerer;
    struct seccomp_notif told;
    int mem_fd; /* memory of the process that the call is of */
    char path[PATH_MAX], to[PATH_MAX];
};

/* This thread outlives the child: PR_SET_PDEATHSIG is tied to it. */
static void *start_child(void *payload)
{
    struct al_watching *watching = payload;

    watching->listener_fd = install();
    (void)pthread_barrier_wait(&watching->step); /* installed */
    (void)pthread_barrier_wait(&watching->step); /* answered: the child tells calls before execve */
    if (watching->start)
        watching->start(watching->payload);
    (void)pthread_barrier_wait(&watching->step); /* started */
    (void)pthread_barrier_wait(&watching->step); /* ended */
    return NULL;
}

/* --- Reading the arguments --- */

/* A file of the process in /proc. */
static const char *proc_file(const struct al_watching *watching, const char *file, char text[64])
{
    (void)snprintf(text, 64, "/proc/%u/%s", watching->told.pid, file);
    return text;
}

/* Read a string, page by page: the next page may not be mapped. */
static bool read_string(struct al_watching *watching, uint64_t address, char text[PATH_MAX])
{
    size_t len = 0;

    while (len < PATH_MAX) {
        size_t room = 256 - (address + len) % 256;
        ssize_t got = pread(watching->mem_fd, text + len,
                            room < PATH_MAX - len ? room : PATH_MAX - len, (off_t)(address + len));

        if (got <= 0)
            return false;
        if (memchr(text + len, '\0', (size_t)got))
            return true;
        len += (size_t)got;
    }
    return false;
}

/* The directory that a path is relative to. */
static bool read_dir(const struct al_watching *watching, int dir, char ret_path[PATH_MAX])
{
    char link[64], file[16] = "cwd";
    ssize_t len;

    if (dir != AT_FDCWD)
        (void)snprintf(file, sizeof(file), "fd/%d", dir);
    len = readlink(proc_file(watching, file, link), ret_path, PATH_MAX - 1);
    ret_path[len < 0 ? 0 : len] = '\0';
    return *ret_path == '/';
}

/* Read a path and make it absolute. */
static bool read_path(struct al_watching *watching, uint64_t dir, uint64_t address,
                      char ret_path[PATH_MAX])
{
    char text[PATH_MAX];
    size_t len;

    if (!read_string(watching, address, text) || !*text)
        return false;
    if (*text == '/')
        return memcpy(ret_path, text, strlen(text) + 1);
    if (!read_dir(watching, (int)dir, ret_path))
        return false;
    len = strlen(ret_path);
    return snprintf(ret_path + len, PATH_MAX - len, "/%s", text) < (int)(PATH_MAX - len);
}

/* The places of a call's arguments, from 1; 0: it has no such argument. */
static const struct call {
    int number;
    enum al_watch_kind kind;
    unsigned char dir, path, to_dir, to, flags, mode;
} calls[] = {
    { SYS_unlinkat, AL_WATCH_REMOVE, .dir = 1, .path = 2, .flags = 3 },
    { SYS_symlinkat, AL_WATCH_LINK, .dir = 2, .path = 3 },
    { SYS_renameat2, AL_WATCH_RENAME, .dir = 1, .path = 2, .to_dir = 3, .to = 4, .flags = 5 },
    { SYS_renameat, AL_WATCH_RENAME, .dir = 1, .path = 2, .to_dir = 3, .to = 4 },
    { SYS_openat, AL_WATCH_CREATE, .dir = 1, .path = 2, .flags = 3, .mode = 4 },
#ifdef SYS_open
    { SYS_unlink, AL_WATCH_REMOVE, .path = 1 },
    { SYS_symlink, AL_WATCH_LINK, .path = 2 },
    { SYS_rename, AL_WATCH_RENAME, .path = 1, .to = 2 },
    { SYS_open, AL_WATCH_CREATE, .path = 1, .flags = 2, .mode = 3 },
    { SYS_creat, AL_WATCH_CREATE, .path = 1, .mode = 2 },
#endif
};

static uint64_t argument(const struct al_watching *watching, unsigned at, int otherwise)
{
    return at ? (uint64_t)watching->told.data.args[at - 1] : (uint64_t)otherwise;
}

/* False: it is not for us to decide, or with a path it cannot be read. */
static bool read_event(struct al_watching *watching, struct al_watch_event *ret_event)
{
    const struct call *call = calls;
    int flags;

    while (call < calls + AL_COUNT(calls) && call->number != watching->told.data.nr)
        call++;
    if (call == calls + AL_COUNT(calls))
        return false;
    flags = call->kind == AL_WATCH_CREATE ? O_WRONLY | O_CREAT | O_TRUNC : 0; /* of creat */
    flags = (int)argument(watching, call->flags, flags);
    if (call->kind == AL_WATCH_REMOVE && flags & AT_REMOVEDIR)
        return false;
    *ret_event = (struct al_watch_event){
        .kind = call->kind,
        .pid = (pid_t)watching->told.pid,
        .path = watching->path,
        .to = call->to ? watching->to : NULL,
        .flags = flags,
        .mode = (mode_t)argument(watching, call->mode, 0),
    };
    return read_path(watching, argument(watching, call->dir, AT_FDCWD),
                     argument(watching, call->path, 0), watching->path) &&
           (!call->to || read_path(watching, argument(watching, call->to_dir, AT_FDCWD),
                                   argument(watching, call->to, 0), watching->to));
}

/* --- Answering --- */

/* The descriptor and the end of the call in one (since Linux 5.14), or one after the other. */
static void give(struct al_watching *watching, const struct al_watch_answer *answer)
{
    struct seccomp_notif_addfd add = {
        .id = watching->told.id,
        .flags = SECCOMP_ADDFD_FLAG_SEND,
        .srcfd = (uint32_t)answer->fd,
        .newfd_flags = O_CLOEXEC,
    };
    const struct al_watch *watch = watching->watch;
    int number = ioctl(watching->listener_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
    const bool is_sent = number >= 0;
    struct seccomp_notif_resp response = { .id = watching->told.id };

    if (!is_sent && errno == EINVAL) {
        add.flags = 0;
        number = ioctl(watching->listener_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
    }
    response.val = number < 0 ? 0 : number;
    response.error = number < 0 ? -errno : 0;
    watch->given(watch->payload, (pid_t)watching->told.pid, number);
    if (!is_sent)
        (void)ioctl(watching->listener_fd, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void answer_one(struct al_watching *watching)
{
    const struct al_watch *watch = watching->watch;
    struct seccomp_notif_resp response = { .id = 0 };
    struct al_watch_answer answer = { .is_done = false };
    struct al_watch_event event = { .path = NULL };
    char name[64];

    memset(&watching->told, 0, sizeof(watching->told));
    if (ioctl(watching->listener_fd, SECCOMP_IOCTL_NOTIF_RECV, &watching->told) < 0)
        return;
    al_close(watching->mem_fd);
    watching->mem_fd = open(proc_file(watching, "mem", name), O_RDONLY | O_CLOEXEC);
    /* The path may be that of another process, which got the number of a killed one.  A decision
     * destroys nothing, so that is no harm, and to ask the kernel each time takes long. */
    if (read_event(watching, &event))
        watch->decide(watch->payload, &event, &answer);
    else if (event.path && watch->is_required) /* it cannot be read */
        answer = (struct al_watch_answer){ .is_done = true, .error = EACCES };
    if (answer.fd > 0) {
        give(watching, &answer);
        return;
    }
    response.id = watching->told.id;
    response.error = -answer.error;
    response.flags = answer.is_done ? 0 : (uint32_t)SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    (void)ioctl(watching->listener_fd, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void *answer_all(void *payload)
{
    struct al_watching *watching = payload;
    struct pollfd fds[] = { { .fd = watching->listener_fd, .events = POLLIN },
                            { .fd = watching->stop_fd, .events = POLLIN } };
    bool is_busy = true;

    for (;;) {
        int ready = poll(fds, 2, is_busy ? IDLE_MS : -1);

        if (ready == 0)
            is_busy = watching->watch->idle(watching->watch->payload);
        if (ready > 0 && fds[0].revents & POLLIN) {
            answer_one(watching);
            is_busy = true;
        } else if (ready > 0 && (fds[1].revents || fds[0].revents)) {
            (void)watching->watch->idle(watching->watch->payload);
            return NULL;
        }
    }
}

/* Signals are for the threads that wait for them. */
static bool make_thread(pthread_t *ret_thread, void *(*run)(void *payload), void *payload)
{
    sigset_t all, before;
    bool is_made;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    is_made = pthread_create(ret_thread, NULL, run, payload) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_made;
}

struct al_watching *al_watch_begin(const struct al_watch *watch, void (*start)(void *payload),
                                   void *payload)
{
    struct al_watching *watching = al_calloc(1, sizeof(*watching));

    *watching = (struct al_watching){ .watch = watch,
                                      .start = start,
                                      .payload = payload,
                                      .listener_fd = -1,
                                      .stop_fd = eventfd(0, EFD_CLOEXEC),
                                      .mem_fd = -1 };
    (void)pthread_barrier_init(&watching->step, NULL, 2);
    if (watching->stop_fd < 0 || !make_thread(&watching->starter, start_child, watching)) {
        (void)pthread_barrier_destroy(&watching->step);
        al_close(watching->stop_fd);
        free(watching);
        return NULL;
    }
    (void)pthread_barrier_wait(&watching->step);
    if (watching->listener_fd >= 0)
        watching->has_answerer = make_thread(&watching->answerer, answer_all, watching);
    if (!watching->has_answerer) { /* what is told is refused (ENOSYS) when nobody listens */
        al_close(watching->listener_fd);
        watching->listener_fd = -1;
    }
    if (!watching->has_answerer && watch->is_required)
        watching->start = NULL;
    (void)pthread_barrier_wait(&watching->step);
    (void)pthread_barrier_wait(&watching->step);
    if (watching->start)
        return watching;
    al_watch_end(watching);
    return NULL;
}

void al_watch_end(struct al_watching *watching)
{
    const uint64_t one = 1;

    if (!watching)
        return;
    if (watching->has_answerer && write(watching->stop_fd, &one, sizeof(one)) == sizeof(one))
        (void)pthread_join(watching->answerer, NULL);
    (void)pthread_barrier_wait(&watching->step);
    (void)pthread_join(watching->starter, NULL);
    al_close(watching->mem_fd);
    al_close(watching->listener_fd);
    al_close(watching->stop_fd);
    (void)pthread_barrier_destroy(&watching->step);
    free(watching);
}

/* --- Asking --- */

#define PROBE      "/dev/null/airlock" /* nothing is removed even if the kernel goes on */
#define PROBE_SAYS EXDEV

static void decide_probe(void *payload, const struct al_watch_event *event,
                         struct al_watch_answer *ret_answer)
{
    (void)payload;
    ret_answer->is_done = true;
    ret_answer->error = strcmp(event->path, PROBE) != 0 ? EIO : PROBE_SAYS;
}

static bool has_nothing_to_wait_for(void *payload)
{
    (void)payload;
    return false;
}

/* A child with memory of its own, as git has.  It has no exit signal, so nobody else waits for it.
 */
static void start_probe(void *payload)
{
    bool *is_told = payload;
    const long pid = syscall(SYS_clone, 0L, NULL, NULL, NULL, NULL);
    int status = -1;

    if (pid == 0) {
        const long r = syscall(SYS_unlinkat, AT_FDCWD, PROBE, 0);

        (void)syscall(SYS_exit_group, r < 0 && errno == PROBE_SAYS ? 0 : 1);
    }
    while (pid > 0 && waitpid((pid_t)pid, &status, (int)__WCLONE) < 0 && errno == EINTR)
        continue;
    *is_told = status == 0;
}

static bool is_possible;

static void probe(void)
{
    const struct al_watch watch = { .decide = decide_probe,
                                    .idle = has_nothing_to_wait_for,
                                    .is_required = true };

    al_watch_end(al_watch_begin(&watch, start_probe, &is_possible));
}

bool al_watch_is_possible(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, probe);
    return is_possible;
}
