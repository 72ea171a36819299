// SPDX-License-Identifier: Apache-2.0
/*
 * step NUMBER COMMAND...: run a command and kill it when it is about to take its NUMBER-th step.  A
 * step is a system call that changes something others can see: a name, a file's content, a child.
 * NUMBER 0 kills nothing and prints how many steps there were.
 *
 * step NUMBER:PROGRAM COMMAND...: a step is the start of a child; the program runs before it, and
 * the command goes on.  NUMBER 0 runs it before each of them.
 *
 * Source: ptrace(2) PTRACE_GET_SYSCALL_INFO.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* <linux/ptrace.h> and <sys/ptrace.h> cannot both be included. */
struct info {
    unsigned char op, pad[3];
    unsigned arch;
    unsigned long long instruction_pointer, stack_pointer, nr, args[6];
};

#define OP_ENTRY 1

static bool is_step(const struct info *info)
{
    static const unsigned long long numbers[] = {
        SYS_renameat,  SYS_renameat2, SYS_unlinkat, SYS_linkat,  SYS_symlinkat, SYS_mkdirat,
        SYS_ftruncate, SYS_fchmod,    SYS_pwrite64, SYS_clone,   SYS_write,
#ifdef SYS_rename
        SYS_rename,    SYS_unlink,    SYS_link,     SYS_symlink, SYS_mkdir,     SYS_rmdir,
#endif
    };

    if (info->nr == SYS_openat)
        return info->args[2] & (O_CREAT | O_TRUNC);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (info->nr == numbers[i])
            return true;
    return false;
}

static void run(const char *program)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)execl(program, program, (char *)NULL);
        _exit(127);
    }
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
}

static bool is_due(const struct info *info, long number, const char *program, long *steps)
{
    if (info->op != OP_ENTRY || (program ? info->nr != SYS_clone : !is_step(info)))
        return false;
    return ++*steps == number || (program && number == 0);
}

static int trace(pid_t pid, long number, const char *program)
{
    long steps = 0;
    int status;

    for (;;) {
        struct info info = { .op = 0 };
        int sig;

        if (waitpid(pid, &status, 0) != pid)
            return 126;
        if (!WIFSTOPPED(status))
            break;
        sig = WSTOPSIG(status);
        if (sig == (SIGTRAP | 0x80)) {
            sig = 0;
            (void)ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info);
            if (is_due(&info, number, program, &steps)) {
                if (!program) {
                    (void)kill(pid, SIGKILL);
                    (void)waitpid(pid, &status, 0);
                    return 137;
                }
                run(program);
            }
        } else if (sig == SIGTRAP) {
            sig = 0;
        }
        (void)ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)sig);
    }
    if (number == 0 && !program)
        (void)printf("%ld\n", steps);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    char *end;
    long number;
    int status;
    pid_t pid;

    if (argc < 3)
        return 2;
    number = strtol(argv[1], &end, 10);
    pid = fork();
    if (pid == 0) {
        (void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        (void)raise(SIGSTOP);
        (void)execv(argv[2], argv + 2);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 126;
    (void)ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    (void)ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
    return trace(pid, number, *end == ':' ? end + 1 : NULL);
}
