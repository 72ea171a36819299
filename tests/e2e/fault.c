// SPDX-License-Identifier: Apache-2.0
/*
 * fault NUMBER ERROR DIRECTORY COMMAND...: run a command and let the NUMBER-th system call on a
 * file below DIRECTORY fail.  ERROR is the name of an error, `SHORT` for a write of half the bytes,
 * or `LIKELY` for the error that the call is most likely to give.  NUMBER 0 lets nothing fail and
 * prints how many calls there were.  Children and other threads of the command are left alone.
 *
 * Unlike a preloaded library, this sees every call, also in a build with sanitizers.  Exit code 77:
 * not supported on this machine.
 *
 * Source: ptrace(2) PTRACE_GET_SYSCALL_INFO, PTRACE_SETREGS.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define OP_ENTRY    1
#define SHORT       (-1)
#define LIKELY      (-2)

/* <linux/ptrace.h> and <sys/ptrace.h> cannot both be included. */
struct info {
    unsigned char op, pad[3];
    unsigned arch;
    unsigned long long instruction_pointer, stack_pointer, nr, args[6];
};

/* How a call names its file. */
enum shape { BY_FD, BY_PATH, TWO_PATHS };

static const struct call {
    unsigned long long nr;
    enum shape shape;
    int error; /* the likely one */
} calls[] = {
    { SYS_read, BY_FD, EIO },          { SYS_pread64, BY_FD, EIO },
    { SYS_write, BY_FD, ENOSPC },      { SYS_pwrite64, BY_FD, ENOSPC },
    { SYS_flock, BY_FD, ENOLCK },      { SYS_fsync, BY_FD, EIO },
    { SYS_fdatasync, BY_FD, EIO },     { SYS_ftruncate, BY_FD, EIO },
    { SYS_getdents64, BY_FD, EIO },    { SYS_openat, BY_PATH, EMFILE },
    { SYS_mkdirat, BY_PATH, ENOSPC },  { SYS_unlinkat, BY_PATH, EIO },
    { SYS_renameat, TWO_PATHS, EIO },  { SYS_renameat2, TWO_PATHS, EIO },
    { SYS_linkat, TWO_PATHS, ENOSPC },
};

static const struct {
    const char *name;
    int number;
} errors[] = {
    { "EIO", EIO },     { "ENOSPC", ENOSPC }, { "ENOLCK", ENOLCK }, { "EMFILE", EMFILE },
    { "EINTR", EINTR }, { "SHORT", SHORT },   { "LIKELY", LIKELY },
};

/* Which call to let fail, and how. */
struct plan {
    pid_t pid;
    long number;
    int error;
    const char *dir;
};

static const struct call *find_call(const struct info *info)
{
    for (size_t i = 0; i < COUNT(calls); i++)
        if (calls[i].nr == info->nr)
            return &calls[i];
    return NULL;
}

static void fd_path(pid_t pid, int fd, char *ret_path, size_t size)
{
    char link[64];
    ssize_t n;

    if (fd == AT_FDCWD)
        (void)snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
    else
        (void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, fd);
    n = readlink(link, ret_path, size - 1);
    ret_path[n > 0 ? n : 0] = '\0';
}

/* The path that a call gives, from `/` on; nothing is resolved. */
static void arg_path(pid_t pid, int fd, unsigned long long address, char *ret_path, size_t size)
{
    char name[4096] = "", dir[4096];
    struct iovec to = { name, sizeof(name) - 1 };
    struct iovec from = { (void *)(size_t)address, sizeof(name) - 1 };

    /* The memory behind the name may end with its page. */
    while (process_vm_readv(pid, &to, 1, &from, 1, 0) < 0 && from.iov_len > 1)
        from.iov_len /= 2;
    if (name[0] == '/') {
        (void)snprintf(ret_path, size, "%s", name);
        return;
    }
    fd_path(pid, fd, dir, sizeof(dir));
    (void)snprintf(ret_path, size, "%s/%s", dir, name);
}

static bool is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return !strncmp(path, dir, len) && (path[len] == '/' || !path[len]);
}

static bool concerns(const struct plan *plan, const struct call *call, const struct info *info)
{
    char path[8192];

    if (call->shape == BY_FD)
        fd_path(plan->pid, (int)info->args[0], path, sizeof(path));
    else
        arg_path(plan->pid, (int)info->args[0], info->args[1], path, sizeof(path));
    if (is_below(path, plan->dir))
        return true;
    if (call->shape != TWO_PATHS)
        return false;
    arg_path(plan->pid, (int)info->args[2], info->args[3], path, sizeof(path));
    return is_below(path, plan->dir);
}

#if defined(__x86_64__)
static void skip_call(pid_t pid)
{
    struct user_regs_struct regs;

    (void)ptrace(PTRACE_GETREGS, pid, NULL, &regs);
    regs.orig_rax = (unsigned long long)-1;
    (void)ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

static void set_result(pid_t pid, long long result)
{
    struct user_regs_struct regs;

    (void)ptrace(PTRACE_GETREGS, pid, NULL, &regs);
    regs.rax = (unsigned long long)result;
    (void)ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

static void set_length(pid_t pid, unsigned long long length)
{
    struct user_regs_struct regs;

    (void)ptrace(PTRACE_GETREGS, pid, NULL, &regs);
    regs.rdx = length;
    (void)ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}
#elif defined(__aarch64__)
static void set_register(pid_t pid, int index, unsigned long long value)
{
    struct user_regs_struct regs;
    struct iovec all = { &regs, sizeof(regs) };

    (void)ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &all);
    regs.regs[index] = value;
    (void)ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &all);
}

static void skip_call(pid_t pid)
{
    int none = -1;
    struct iovec number = { &none, sizeof(none) };

    (void)ptrace(PTRACE_SETREGSET, pid, (void *)NT_ARM_SYSTEM_CALL, &number);
}

static void set_result(pid_t pid, long long result)
{
    set_register(pid, 0, (unsigned long long)result);
}

static void set_length(pid_t pid, unsigned long long length)
{
    set_register(pid, 2, length);
}
#else
#define UNKNOWN_MACHINE 1
static void skip_call(pid_t pid)
{
    (void)pid;
}

static void set_result(pid_t pid, long long result)
{
    (void)pid;
    (void)result;
}

static void set_length(pid_t pid, unsigned long long length)
{
    (void)pid;
    (void)length;
}
#endif

/* Make the call that is about to begin fail.  True when its result must be set at its end. */
static bool spoil(const struct plan *plan, const struct info *info)
{
    bool writes = info->nr == SYS_write || info->nr == SYS_pwrite64;

    if (plan->error == SHORT && writes && info->args[2] > 1)
        set_length(plan->pid, info->args[2] / 2);
    if (plan->error == SHORT)
        return false;
    skip_call(plan->pid);
    return true;
}

static int trace(const struct plan *plan)
{
    const struct call *spoiled = NULL;
    long count = 0;
    int status;

    for (;;) {
        struct info info = { .op = 0 };
        int sig;

        if (waitpid(plan->pid, &status, 0) != plan->pid)
            return 126;
        if (!WIFSTOPPED(status))
            break;
        sig = WSTOPSIG(status);
        if (sig == (SIGTRAP | 0x80)) {
            const struct call *call;

            sig = 0;
            (void)ptrace(PTRACE_GET_SYSCALL_INFO, plan->pid, (void *)sizeof(info), &info);
            call = info.op == OP_ENTRY ? find_call(&info) : NULL;
            if (call && concerns(plan, call, &info) && ++count == plan->number)
                spoiled = spoil(plan, &info) ? call : NULL;
            else if (info.op != OP_ENTRY && spoiled) {
                set_result(plan->pid, -(plan->error == LIKELY ? spoiled->error : plan->error));
                spoiled = NULL;
            }
        } else if (sig == SIGTRAP) {
            sig = 0;
        }
        (void)ptrace(PTRACE_SYSCALL, plan->pid, NULL, (void *)(long)sig);
    }
    if (plan->number == 0)
        (void)printf("%ld\n", count);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    struct plan plan = { .error = 0 };
    int status;

#ifdef UNKNOWN_MACHINE
    return 77;
#endif
    if (argc < 5)
        return 2;
    plan.number = strtol(argv[1], NULL, 10);
    for (size_t i = 0; i < COUNT(errors); i++)
        if (!strcmp(argv[2], errors[i].name))
            plan.error = errors[i].number;
    plan.dir = argv[3];
    if (!plan.error)
        return 2;
    plan.pid = fork();
    if (plan.pid == 0) {
        (void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        (void)raise(SIGSTOP);
        (void)execv(argv[4], argv + 4);
        _exit(127);
    }
    if (plan.pid < 0 || waitpid(plan.pid, &status, 0) != plan.pid)
        return 126;
    (void)ptrace(PTRACE_SETOPTIONS, plan.pid, NULL,
                 (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    (void)ptrace(PTRACE_SYSCALL, plan.pid, NULL, NULL);
    return trace(&plan);
}
