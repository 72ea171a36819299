// SPDX-License-Identifier: Apache-2.0
/*
 * meanwhile NUMBER ACTIONS COMMAND...: run a command, and do something else when it, or anything
 * that it started, is about to take its NUMBER-th step: a system call that looks at a name, or
 * changes one, or writes; after the last one, if it takes fewer.  NUMBER 0 does nothing.  What the
 * steps are about is appended to the file that the environment variable MEANWHILE_STEPS names, a
 * line each.  Programs work side by side, so a step has another number each time: with such a line
 * in MEANWHILE_STEP, only the steps count that are about the same.  With MEANWHILE_PLAIN the file
 * system knows no flag of renameat2(2), as NFS does not; exit code 77 where this cannot be played.
 *
 * ACTIONS are done in order by another process, which the command waits for, unless that one waits
 * itself; separated by newlines:
 *
 *   save PATH TEXT      open, write, close
 *   replace PATH TEXT   the same beside it, then rename
 *   open PATH TEXT      open, write; a second TEXT follows when the command has ended, then close
 *   move PATH PATH      rename
 *   delete PATH         unlink
 *   kill                the command, and nothing that it started
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OP_ENTRY    1
#define PATIENCE_MS 30 /* how long the command waits for an action that waits */
#define OPTIONS                                                                                    \
    (PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |        \
     PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

/* <linux/ptrace.h> and <sys/ptrace.h> cannot both be included. */
struct info {
    unsigned char op, pad[3];
    unsigned arch;
    unsigned long long instruction_pointer, stack_pointer, nr, args[6];
};

static bool is_step(const struct info *info)
{
    static const unsigned long long numbers[] = {
        SYS_renameat,   SYS_renameat2, SYS_unlinkat, SYS_linkat,  SYS_symlinkat,
        SYS_mkdirat,    SYS_write,     SYS_pwrite64, SYS_fchmod,  SYS_statx,
        SYS_newfstatat, SYS_ftruncate, SYS_fchdir,
#ifdef SYS_rename
        SYS_rename,     SYS_unlink,    SYS_link,     SYS_symlink, SYS_mkdir,
        SYS_rmdir,      SYS_lstat,     SYS_open,
#endif
    };

    if (info->op != OP_ENTRY)
        return false;
    if (info->nr == SYS_openat)
        return info->args[2] & (O_CREAT | O_TRUNC | O_WRONLY | O_RDWR);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (info->nr == numbers[i])
            return true;
    return false;
}

/* The call, and the name that a step is about, as the command has it. */
static void describe(pid_t pid, const struct info *info, char ret_line[4128])
{
    static const unsigned long long named_first[] = {
#ifdef SYS_rename
        SYS_rename, SYS_unlink, SYS_link, SYS_symlink, SYS_mkdir, SYS_rmdir, SYS_lstat, SYS_open,
#endif
    };
    unsigned long long address = info->args[1];
    char link[64], name[4096] = "";
    int fd;

    for (size_t i = 0; i < sizeof(named_first) / sizeof(named_first[0]); i++)
        if (info->nr == named_first[i])
            address = info->args[0];
    if (info->nr == SYS_write || info->nr == SYS_pwrite64 || info->nr == SYS_fchmod ||
        info->nr == SYS_ftruncate || info->nr == SYS_fchdir) {
        (void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, (int)info->args[0]);
        (void)!readlink(link, name, sizeof(name) - 1);
    } else {
        (void)snprintf(link, sizeof(link), "/proc/%d/mem", (int)pid);
        fd = open(link, O_RDONLY | O_CLOEXEC);
        (void)!pread(fd, name, sizeof(name) - 1, (off_t)address);
        if (info->nr == SYS_renameat || info->nr == SYS_renameat2 ||
            info->nr == SYS_linkat) /* onto which name */
            (void)!pread(fd, name, sizeof(name) - 1, (off_t)info->args[3]);
        (void)close(fd);
    }
    (void)snprintf(ret_line, 4128, "%llu %s", info->nr, name);
}

static void put(int fd, const char *text)
{
    if (fd >= 0 && write(fd, text, strlen(text)) < 0)
        perror("meanwhile: write");
}

static pid_t first; /* the command */

static void pause_ms(long ms)
{
    const struct timespec time = { .tv_nsec = ms * 1000000 };

    (void)nanosleep(&time, NULL);
}

/* One action; `end_fd` tells by its end of file that the command has ended. */
static void act(char *line, int end_fd)
{
    char *save, *word = strtok_r(line, " ", &save), *path = strtok_r(NULL, " ", &save),
                *text = strtok_r(NULL, " ", &save);
    int fd;
    char byte, beside[4096];

    if (!strcmp(word, "kill")) {
        (void)kill(first, SIGKILL);
    } else if (!strcmp(word, "move")) {
        (void)rename(path, text);
    } else if (!strcmp(word, "delete")) {
        (void)unlink(path);
    } else if (!strcmp(word, "replace")) {
        (void)snprintf(beside, sizeof(beside), "%s.saving", path);
        fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        put(fd, text);
        (void)close(fd);
        (void)rename(beside, path);
    } else {
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        put(fd, text);
        if (!strcmp(word, "open")) {
            (void)!read(end_fd, &byte, 1);
            put(fd, strtok_r(NULL, " ", &save));
        }
        (void)close(fd);
    }
}

static pid_t begin_actions(const char *actions, int end_fds[2])
{
    pid_t pid;
    char *text, *save;

    if (pipe2(end_fds, O_CLOEXEC) < 0)
        exit(126);
    pid = fork();
    if (pid == 0) {
        (void)close(end_fds[1]);
        text = strdup(actions);
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
            act(strdup(line), end_fds[0]);
        _exit(0);
    }
    return pid;
}

/* Give the call that is about to begin another fifth argument. */
static void set_flags(pid_t pid, unsigned flags)
{
    struct user_regs_struct regs;
    struct iovec all = { &regs, sizeof(regs) };

    (void)ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &all);
#if defined(__x86_64__)
    regs.r8 = flags;
#elif defined(__aarch64__)
    regs.regs[4] = flags;
#else
#define UNKNOWN_MACHINE 1
    (void)flags;
#endif
    (void)ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &all);
}

struct tracing {
    pid_t actor;
    long number, steps;
    const char *actions, *step;
    FILE *told;
    bool is_plain;
    int end_fds[2], exit_status;
};

static void take_step(struct tracing *tracing, pid_t pid, const struct info *info)
{
    char line[4128];

    describe(pid, info, line);
    if (tracing->told)
        (void)fprintf(tracing->told, "%s\n", line);
    if (tracing->step && strcmp(line, tracing->step) != 0)
        return;
    if (++tracing->steps != tracing->number)
        return;
    tracing->actor = begin_actions(tracing->actions, tracing->end_fds);
    for (int ms = 0; tracing->actor && ms < PATIENCE_MS; ms++) {
        if (waitpid(tracing->actor, NULL, WNOHANG) == tracing->actor)
            tracing->actor = 0;
        else
            pause_ms(1);
    }
}

static void stopped(struct tracing *tracing, pid_t pid, int status)
{
    struct info info = { .op = 0 };
    int sig = WSTOPSIG(status);

    if (sig == (SIGTRAP | 0x80)) {
        sig = 0;
        (void)ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info);
        if (is_step(&info))
            take_step(tracing, pid, &info);
        if (tracing->is_plain && info.op == OP_ENTRY && info.nr == SYS_renameat2 && info.args[4])
            set_flags(pid, ~0u);
    } else if (sig == SIGTRAP || (sig == SIGSTOP && pid != first)) {
        sig = 0; /* an event, or a new one */
    }
    (void)ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)sig);
}

/* Until nothing of the command is left. */
static void trace(struct tracing *tracing)
{
    int status;
    pid_t pid;

    for (;;) {
        pid = waitpid(-1, &status, __WALL);
        if (pid < 0)
            return;
        if (pid == tracing->actor) {
            tracing->actor = 0;
            continue;
        }
        if (WIFSTOPPED(status)) {
            stopped(tracing, pid, status);
        } else if (pid == first) {
            tracing->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            if (tracing->end_fds[1] >= 0)
                (void)close(tracing->end_fds[1]);
            tracing->end_fds[1] = -1;
        }
    }
}

int main(int argc, char **argv)
{
    struct tracing tracing = { .end_fds = { -1, -1 }, .exit_status = 126 };
    int status;

    if (argc < 4)
        return 2;
    tracing.number = strtol(argv[1], NULL, 10);
    tracing.actions = argv[2];
    if (getenv("MEANWHILE_STEPS")) {
        tracing.told = fopen(getenv("MEANWHILE_STEPS"), "ae");
        (void)unsetenv("MEANWHILE_STEPS");
    }
    tracing.step = getenv("MEANWHILE_STEP");
    tracing.is_plain = getenv("MEANWHILE_PLAIN");
#ifdef UNKNOWN_MACHINE
    if (tracing.is_plain)
        return 77;
#endif
    first = fork();
    if (first == 0) {
        (void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        (void)raise(SIGSTOP);
        (void)execv(argv[3], argv + 3);
        _exit(127);
    }
    if (first < 0 || waitpid(first, &status, 0) != first)
        return 126;
    (void)ptrace(PTRACE_SETOPTIONS, first, NULL, (void *)OPTIONS);
    (void)ptrace(PTRACE_SYSCALL, first, NULL, NULL);
    trace(&tracing);
    if (tracing.steps < tracing.number) { /* it took fewer steps this time */
        tracing.actor = begin_actions(tracing.actions, tracing.end_fds);
        (void)close(tracing.end_fds[1]);
        (void)waitpid(tracing.actor, NULL, 0);
    }
    if (tracing.told)
        (void)fclose(tracing.told);
    return tracing.exit_status;
}
