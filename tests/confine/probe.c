// SPDX-License-Identifier: Apache-2.0
/* probe ACTION [A [B]]: tries one action and prints "ok" or the name of the error. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

static int number(const char *text)
{
    return (int)strtol(text, NULL, 0);
}

static int open_as(const char *path, int flags)
{
    return open(path, flags | O_CLOEXEC, 0600) < 0 ? -1 : 0;
}

static int try_read(const char *a, const char *b)
{
    (void)b;
    return open_as(a, O_RDONLY);
}

static int try_list(const char *a, const char *b)
{
    (void)b;
    return opendir(a) ? 0 : -1;
}

static int try_write(const char *a, const char *b)
{
    (void)b;
    return open_as(a, O_WRONLY);
}

static int try_create(const char *a, const char *b)
{
    (void)b;
    return open_as(a, O_WRONLY | O_CREAT | O_EXCL);
}

static int try_truncate(const char *a, const char *b)
{
    (void)b;
    return truncate(a, 0);
}

static int try_mkdir(const char *a, const char *b)
{
    (void)b;
    return mkdir(a, 0700);
}

static int try_rmdir(const char *a, const char *b)
{
    (void)b;
    return rmdir(a);
}

static int try_unlink(const char *a, const char *b)
{
    (void)b;
    return unlink(a);
}

static int try_symlink(const char *a, const char *b)
{
    return symlink(a, b);
}

static int try_link(const char *a, const char *b)
{
    return link(a, b);
}

static int try_rename(const char *a, const char *b)
{
    return rename(a, b);
}

static int try_mkfifo(const char *a, const char *b)
{
    (void)b;
    return mkfifo(a, 0600);
}

static int try_mksock(const char *a, const char *b)
{
    (void)b;
    return mknod(a, S_IFSOCK | 0600, 0);
}

static int exec_path(const char *path)
{
    char *const argv[] = { (char *)"probe", (char *)"executed", NULL }, *const envp[] = { NULL };

    return execve(path, argv, envp);
}

static int execat_path(const char *path)
{
    char *const argv[] = { (char *)"probe", (char *)"executed", NULL }, *const envp[] = { NULL };

    return (int)syscall(SYS_execveat, AT_FDCWD, path, argv, envp, 0);
}

static int try_exec(const char *a, const char *b)
{
    (void)b;
    return exec_path(a);
}

static int try_execveat(const char *a, const char *b)
{
    (void)b;
    return execat_path(a);
}

/* A process made by the system call `a`, as fork(2) makes one; the probe waits for it. */
static int try_process(const char *a, const char *b)
{
    const uint64_t args[8] = { [4] = SIGCHLD }; /* struct clone_args as of its first version */
    long pid = -1;
    int pidfd;

    (void)b;
    if (strcmp(a, "clone") == 0)
        pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
    else if (strcmp(a, "pidfd") == 0) /* as airlock itself makes one */
        pid = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, &pidfd, NULL, 0);
    else if (strcmp(a, "newuser") == 0)
        pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0);
    else if (strcmp(a, "clone3") == 0)
        pid = syscall(SYS_clone3, args, sizeof(args));
    else if (strcmp(a, "fork") == 0)
        pid = fork();
    else
        errno = EINVAL;
    if (pid == 0)
        _exit(0);
    return pid > 0 && waitpid((pid_t)pid, NULL, 0) == pid ? 0 : -1;
}

static void *end_at_once(void *payload)
{
    return payload;
}

static int try_thread(const char *a, const char *b)
{
    pthread_t thread;

    (void)a;
    (void)b;
    errno = pthread_create(&thread, NULL, end_at_once, NULL);
    if (errno == 0)
        errno = pthread_join(thread, NULL);
    return errno ? -1 : 0;
}

static int try_socket(const char *a, const char *b)
{
    return socket(number(a), number(b), 0) < 0 ? -1 : 0;
}

static int try_socketpair(const char *a, const char *b)
{
    int fds[2];

    (void)a;
    (void)b;
    return socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
}

static struct sockaddr_in loopback(const char *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET };

    address.sin_port = htons((unsigned short)number(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int try_connect(const char *a, const char *b)
{
    const struct sockaddr_in address = loopback(a);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)b;
    return fd < 0 ? -1 : connect(fd, (const struct sockaddr *)&address, sizeof(address));
}

static int try_bind(const char *a, const char *b)
{
    const struct sockaddr_in address = loopback(a);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)b;
    return fd < 0 ? -1 : bind(fd, (const struct sockaddr *)&address, sizeof(address));
}

/* Connects to an abstract socket of that name. */
static int try_abstract(const char *a, const char *b)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    size_t len = strlen(a);

    (void)b;
    if (fd < 0 || len > sizeof(address.sun_path) - 1)
        return -1;
    memcpy(address.sun_path + 1, a, len);
    return connect(fd, (const struct sockaddr *)&address,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len));
}

static int try_kill(const char *a, const char *b)
{
    (void)b;
    return kill(number(a), 0);
}

static int try_ptrace(const char *a, const char *b)
{
    (void)a;
    (void)b;
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 ? -1 : 0;
}

static int try_process_vm_readv(const char *a, const char *b)
{
    char from = 'x', to = 'y';
    struct iovec local = { &to, 1 }, remote = { &from, 1 };

    (void)a;
    (void)b;
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 ? 0 : -1;
}

static int try_process_vm_writev(const char *a, const char *b)
{
    char from = 'x', to = 'y';
    struct iovec local = { &from, 1 }, remote = { &to, 1 };

    (void)a;
    (void)b;
    return process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == 1 ? 0 : -1;
}

/* A system call by number, with invalid arguments. */
static int try_syscall(const char *a, const char *b)
{
    (void)b;
    return syscall(number(a), -1, NULL, -1, NULL, 0, 0) < 0 ? -1 : 0;
}

/* An ioctl by number, on a device that supports none. */
static int try_ioctl(const char *a, const char *b)
{
    int fd = open(b, O_RDWR | O_CLOEXEC);
    char c = 'x';

    return fd < 0 ? -1 : ioctl(fd, strtoul(a, NULL, 0), &c);
}

/* getpid() as a program of another architecture calls it. */
static int try_foreign(const char *a, const char *b)
{
    (void)a;
    (void)b;
#if defined(__x86_64__)
    long pid = 20;

    __asm__ volatile("int $0x80" : "+a"(pid) : : "memory");
    return pid > 0 ? 0 : -1;
#else
    errno = ENOSYS;
    return -1;
#endif
}

static const struct {
    const char *name;
    int (*try)(const char *a, const char *b);
} actions[] = {
    { "read", try_read },
    { "list", try_list },
    { "write", try_write },
    { "create", try_create },
    { "truncate", try_truncate },
    { "mkdir", try_mkdir },
    { "rmdir", try_rmdir },
    { "unlink", try_unlink },
    { "symlink", try_symlink },
    { "link", try_link },
    { "rename", try_rename },
    { "mkfifo", try_mkfifo },
    { "mksock", try_mksock },
    { "exec", try_exec },
    { "execveat", try_execveat },
    { "process", try_process },
    { "thread", try_thread },
    { "socket", try_socket },
    { "socketpair", try_socketpair },
    { "connect", try_connect },
    { "bind", try_bind },
    { "abstract", try_abstract },
    { "kill", try_kill },
    { "ptrace", try_ptrace },
    { "process_vm_readv", try_process_vm_readv },
    { "process_vm_writev", try_process_vm_writev },
    { "syscall", try_syscall },
    { "ioctl", try_ioctl },
    { "foreign", try_foreign },
};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "executed") == 0)
        return puts("ok") < 0;
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (argc < 2 || strcmp(argv[1], actions[i].name) != 0)
            continue;
        errno = 0;
        if (actions[i].try(argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "") == 0)
            (void)puts("ok");
        else
            (void)puts(strerrorname_np(errno));
        return 0;
    }
    (void)puts("unknown action");
    return 2;
}
