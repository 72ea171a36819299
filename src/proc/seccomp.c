// SPDX-License-Identifier: Apache-2.0
/*
 * A filter is a table of rows; every row refuses something, and what no row names is allowed.
 *
 * The table is no allow list of system calls: the programs are git, its helpers and whatever a
 * person allowed in the shell, and the kernel and libc under them change.  Files and programs are
 * Landlock's business; a row here closes what Landlock does not cover.
 *
 * The rows become a search tree over the numbers.  A plain chain of comparisons would do the same,
 * but the kernel walks a new filter once for every system call there is, and a chain of these rows
 * makes each child start a tenth of a millisecond later.
 */
#include "proc/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "util/mem.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#define FOREIGN_BIT 0x40000000u /* x32 programs set it in their numbers */
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#define FOREIGN_BIT 0x40000000u /* no number has it */
#else
#error "seccomp.c knows x86_64 and aarch64; add the audit architecture of yours"
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ARG_LOW and ARG_HIGH assume a little-endian machine"
#endif

/* Since 5.1 the numbers are the same on every architecture. */
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

/* Which filters a row belongs to. */
enum {
    EXEC_ONCE = 1 << 0,
    NO_SOCKETS = 1 << 1,
    NETWORK = 1 << 2,
    EVERY = EXEC_ONCE | NO_SOCKETS | NETWORK,
    FILTERS = 5, /* the two first together, either, or the last alone */
};

/* A system call that fails with `error`, for all arguments or as `only` and `unless` say. */
struct row {
    uint32_t number;
    unsigned filters;
    int error;
    uint32_t only;   /* refused only with this second argument (a request of ioctl) */
    uint64_t unless; /* refused unless this is the first argument (an address) */
};

static const struct row rows[] = {
    /* Reaching into other processes; the server is one, where Landlock is missing. */
    { .number = SYS_ptrace, .filters = EVERY, .error = EPERM },
    { .number = SYS_process_vm_readv, .filters = EVERY, .error = EPERM },
    { .number = SYS_process_vm_writev, .filters = EVERY, .error = EPERM },
    { .number = SYS_pidfd_getfd, .filters = EVERY, .error = EPERM },

    /* Kernel interfaces that no tool needs and that many exploits begin with. */
    { .number = SYS_bpf, .filters = EVERY, .error = EPERM },
    { .number = SYS_userfaultfd, .filters = EVERY, .error = EPERM },
    { .number = SYS_keyctl, .filters = EVERY, .error = EPERM },
    { .number = SYS_add_key, .filters = EVERY, .error = EPERM },
    { .number = SYS_request_key, .filters = EVERY, .error = EPERM },

    /*
     * Makes system calls that no filter sees.  EPERM is what programs get from the kernel's own
     * switch (kernel.io_uring_disabled), and fall back on.
     */
    { .number = SYS_io_uring_setup, .filters = EVERY, .error = EPERM },
    { .number = SYS_io_uring_enter, .filters = EVERY, .error = EPERM },
    { .number = SYS_io_uring_register, .filters = EVERY, .error = EPERM },

    /* Typing into a terminal. */
    { .number = SYS_ioctl, .filters = EVERY, .error = EPERM, .only = TIOCSTI },

    /* No family is harmless: a local socket's path is not covered by Landlock. */
    { .number = SYS_socket, .filters = NO_SOCKETS, .error = EACCES },
    { .number = SYS_socketpair, .filters = NO_SOCKETS, .error = EACCES },

    /*
     * execve only with the address of the page the parent prepared, which the first execve takes
     * away with the rest of the old memory.  Nothing else can be executed then, so a process that
     * forks can only leave the process group by itself: denying that makes killing the group
     * complete.
     */
    { .number = SYS_execve, .filters = EXEC_ONCE, .error = EPERM, .unless = AL_EXEC_PATH },
    { .number = SYS_execveat, .filters = EXEC_ONCE, .error = EPERM },
    { .number = SYS_setsid, .filters = EXEC_ONCE, .error = EPERM },
    { .number = SYS_setpgid, .filters = EXEC_ONCE, .error = EPERM },
};

#define ROW_INSTRUCTIONS  7
#define HEAD_INSTRUCTIONS 6
/* Each row, and at most as many branches and ends of the tree. */
#define FILTER_INSTRUCTIONS (HEAD_INSTRUCTIONS + AL_COUNT(rows) * (ROW_INSTRUCTIONS + 2))

/* Jumps within a filter are counted in eight bits. */
_Static_assert(FILTER_INSTRUCTIONS < 256, "a jump may not reach");

struct filter {
    struct sock_filter code[FILTER_INSTRUCTIONS];
    struct sock_fprog program;
};

static struct filter filters[FILTERS]; /* by the guards that are on; [0] is not used */
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define ARG_LOW(n)  (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (n))
#define ARG_HIGH(n) (ARG_LOW(n) + 4)

static void add(struct filter *filter, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
    filter->code[filter->program.len++] = (struct sock_filter)BPF_JUMP(code, k, yes, no);
}

static void load(struct filter *filter, uint32_t offset)
{
    add(filter, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

/* Skips `yes` instructions where the loaded value is `value`, else `no`. */
static void if_equal(struct filter *filter, uint32_t value, uint8_t yes, uint8_t no)
{
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
}

static void answer(struct filter *filter, uint32_t action)
{
    add(filter, BPF_RET | BPF_K, action, 0, 0);
}

/* With the number loaded, and still loaded for what follows when it is another one. */
static void add_row(struct filter *filter, const struct row *row)
{
    const uint32_t refuse = SECCOMP_RET_ERRNO | (uint32_t)row->error;

    if (row->unless) {
        if_equal(filter, row->number, 0, 6);
        load(filter, ARG_LOW(0));
        if_equal(filter, (uint32_t)row->unless, 0, 2);
        load(filter, ARG_HIGH(0));
        if_equal(filter, (uint32_t)(row->unless >> 32), 1, 0);
        answer(filter, refuse);
        answer(filter, SECCOMP_RET_ALLOW);
    } else if (row->only) {
        if_equal(filter, row->number, 0, 4);
        load(filter, ARG_LOW(1));
        if_equal(filter, row->only, 0, 1);
        answer(filter, refuse);
        answer(filter, SECCOMP_RET_ALLOW);
    } else {
        if_equal(filter, row->number, 0, 1);
        answer(filter, refuse);
    }
}

/* Where to part rows so that either side has about as many numbers, named or not; never 0. */
static size_t middle(const struct row *sorted, size_t count)
{
    const uint32_t wanted = (sorted[0].number + sorted[count - 1].number) / 2;
    size_t at = 1;

    while (at < count - 1 && sorted[at].number <= wanted)
        at++;
    return at;
}

/* Rows in the order of their numbers: one at the end of each path, the rest parted again. */
static void add_tree(struct filter *filter, const struct row *sorted, size_t count)
{
    size_t branch, half;

    if (count == 1) {
        add_row(filter, sorted);
        answer(filter, SECCOMP_RET_ALLOW);
        return;
    }
    half = middle(sorted, count);
    branch = filter->program.len;
    add(filter, BPF_JMP | BPF_JGE | BPF_K, sorted[half].number, 0, 0);
    add_tree(filter, sorted, half);
    filter->code[branch].jt = (uint8_t)(filter->program.len - branch - 1);
    add_tree(filter, sorted + half, count - half);
}

static int by_number(const void *a, const void *b)
{
    const struct row *left = a, *right = b;

    return (left->number > right->number) - (left->number < right->number);
}

static void build(struct filter *filter, unsigned guards)
{
    struct row sorted[AL_COUNT(rows)];
    size_t count = 0;

    for (size_t i = 0; i < AL_COUNT(rows); i++) {
        if (rows[i].filters & guards)
            sorted[count++] = rows[i];
    }
    qsort(sorted, count, sizeof(*sorted), by_number);

    /* A program built for another calling convention would be judged by the wrong numbers. */
    filter->program.filter = filter->code;
    load(filter, offsetof(struct seccomp_data, arch));
    if_equal(filter, NATIVE_ARCH, 1, 0);
    answer(filter, SECCOMP_RET_KILL_PROCESS);
    load(filter, offsetof(struct seccomp_data, nr));
    add(filter, BPF_JMP | BPF_JGE | BPF_K, FOREIGN_BIT, 0, 1);
    answer(filter, SECCOMP_RET_KILL_PROCESS);
    add_tree(filter, sorted, count);
}

static void build_all(void)
{
    for (unsigned guards = 1; guards < FILTERS; guards++)
        build(&filters[guards], guards);
}

const struct sock_fprog *al_filter_get(bool exec_once, bool no_sockets, bool network)
{
    unsigned guards = (exec_once ? EXEC_ONCE : 0u) | (no_sockets ? NO_SOCKETS : 0u);

    if (!guards && network)
        guards = NETWORK;
    if (!guards)
        return NULL;
    pthread_once(&once, build_all);
    return &filters[guards].program;
}
