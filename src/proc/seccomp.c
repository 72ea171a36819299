// SPDX-License-Identifier: Apache-2.0
/*
 * Builds filters from a table of rows.  Each row refuses a system call; all others are allowed.
 *
 * An allow list is not possible: the programs are git, its helpers and whatever the user allows in
 * the shell, and kernel and libc change.  Landlock restricts files and programs; a row here closes
 * a gap that Landlock leaves.
 *
 * A filter is a search tree over the system call numbers.  A chain of comparisons would do the
 * same, but the kernel compiles each new filter and runs it once for every system call number, so a
 * longer filter delays the start of each child.
 */
#include "proc/seccomp.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "util/mem.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#define FOREIGN_BIT 0x40000000u /* set in the numbers of x32 programs */
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
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_open_tree
#define SYS_open_tree  428
#define SYS_move_mount 429
#define SYS_fsopen     430
#define SYS_fsconfig   431
#define SYS_fsmount    432
#define SYS_fspick     433
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

/* Which filters a row belongs to. */
enum {
    EXEC_ONCE = 1 << 0,
    NO_SOCKETS = 1 << 1,
    NETWORK = 1 << 2,
    EVERY = EXEC_ONCE | NO_SOCKETS | NETWORK,
    FILTERS = 5, /* combinations: the first two together, each of them, the last alone; + 1 */
};

/* A system call that fails with `error`: always, or only as one of the last four members says. */
struct row {
    uint32_t number;
    unsigned filters;
    int error;            /* EPERM, EACCES or ENOSYS */
    uint32_t only[2];     /* refused only if the second argument is one of these (ioctl requests) */
    uint64_t unless;      /* refused unless this is the first argument (an address) */
    uint32_t bits;        /* refused if the first argument has one of these */
    uint32_t unless_bits; /* in EXEC_ONCE also refused unless it has one of these */
};

/* Flags of clone for new namespaces.  CLONE_NEWTIME is not one of them: clone takes that bit as
 * part of the exit signal. */
#define NEW_NAMESPACES                                                                             \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |     \
     CLONE_NEWCGROUP)

static const struct row rows[] = {
    /* Access to the memory and descriptors of other processes: without Landlock, also of the
       server. */
    { .number = SYS_ptrace, .filters = EVERY, .error = EPERM },
    { .number = SYS_process_vm_readv, .filters = EVERY, .error = EPERM },
    { .number = SYS_process_vm_writev, .filters = EVERY, .error = EPERM },
    { .number = SYS_pidfd_getfd, .filters = EVERY, .error = EPERM },

    /* Kernel interfaces that no tool needs and that many exploits use. */
    { .number = SYS_bpf, .filters = EVERY, .error = EPERM },
    { .number = SYS_userfaultfd, .filters = EVERY, .error = EPERM },
    { .number = SYS_keyctl, .filters = EVERY, .error = EPERM },
    { .number = SYS_add_key, .filters = EVERY, .error = EPERM },
    { .number = SYS_request_key, .filters = EVERY, .error = EPERM },
    { .number = SYS_perf_event_open, .filters = EVERY, .error = EPERM },
    { .number = SYS_open_by_handle_at, .filters = EVERY, .error = EPERM },

    /*
     * Namespaces: root in a user namespace reaches kernel code that no other unprivileged process
     * reaches.  Mounts, by the old and the new interface.
     */
    { .number = SYS_unshare, .filters = EVERY, .error = EPERM },
    { .number = SYS_setns, .filters = EVERY, .error = EPERM },
    { .number = SYS_mount, .filters = EVERY, .error = EPERM },
    { .number = SYS_umount2, .filters = EVERY, .error = EPERM },
    { .number = SYS_pivot_root, .filters = EVERY, .error = EPERM },
    { .number = SYS_open_tree, .filters = EVERY, .error = EPERM },
    { .number = SYS_open_tree_attr, .filters = EVERY, .error = EPERM },
    { .number = SYS_move_mount, .filters = EVERY, .error = EPERM },
    { .number = SYS_fsopen, .filters = EVERY, .error = EPERM },
    { .number = SYS_fsconfig, .filters = EVERY, .error = EPERM },
    { .number = SYS_fsmount, .filters = EVERY, .error = EPERM },
    { .number = SYS_fspick, .filters = EVERY, .error = EPERM },
    { .number = SYS_mount_setattr, .filters = EVERY, .error = EPERM },

    /* Loading kernels and modules, in case the server runs as root. */
    { .number = SYS_kexec_load, .filters = EVERY, .error = EPERM },
    { .number = SYS_kexec_file_load, .filters = EVERY, .error = EPERM },
    { .number = SYS_init_module, .filters = EVERY, .error = EPERM },
    { .number = SYS_finit_module, .filters = EVERY, .error = EPERM },
    { .number = SYS_delete_module, .filters = EVERY, .error = EPERM },

    /*
     * io_uring makes system calls that no filter sees.  With kernel.io_uring_disabled the kernel
     * gives EPERM as well, and programs fall back.
     */
    { .number = SYS_io_uring_setup, .filters = EVERY, .error = EPERM },
    { .number = SYS_io_uring_enter, .filters = EVERY, .error = EPERM },
    { .number = SYS_io_uring_register, .filters = EVERY, .error = EPERM },

    /* Input into a terminal or a console. */
    { .number = SYS_ioctl, .filters = EVERY, .error = EPERM, .only = { TIOCSTI, TIOCLINUX } },

    /* Every family, since Landlock does not cover the path of a UNIX socket. */
    { .number = SYS_socket, .filters = NO_SOCKETS, .error = EACCES },
    { .number = SYS_socketpair, .filters = NO_SOCKETS, .error = EACCES },

    /*
     * execve only with the address of the exec-once page.  The first execve unmaps that page with
     * the rest of the old memory.
     */
    { .number = SYS_execve, .filters = EXEC_ONCE, .error = EPERM, .unless = AL_EXEC_PATH },
    { .number = SYS_execveat, .filters = EXEC_ONCE, .error = EPERM },

/*
 * No filter allows clone with new namespaces.
 *
 * An exec-once program can execute nothing, so it needs no other process, only threads; nothing is
 * left when it is killed.  A thread of the server may have the same filter (proc/thread.h) and
 * still starts children: it passes CLONE_PIDFD, which neither git nor libc does by itself.
 *
 * clone3 has its flags in memory, where a filter cannot look.  libc and Go take ENOSYS for an old
 * kernel and use clone.
 */
#ifdef SYS_fork
    { .number = SYS_fork, .filters = EXEC_ONCE, .error = EPERM },
    { .number = SYS_vfork, .filters = EXEC_ONCE, .error = EPERM },
#endif
    { .number = SYS_clone,
      .filters = EVERY,
      .error = EPERM,
      .bits = NEW_NAMESPACES,
      .unless_bits = CLONE_THREAD | CLONE_PIDFD },
    { .number = SYS_clone3, .filters = EVERY, .error = ENOSYS },
};

/* The rows that check an argument: ioctl, execve, clone. */
#define ARGUMENT_ROWS 3

/* The prologue and the return instructions, a comparison and a branch for each row, and at most
 * four instructions to check an argument. */
#define FILTER_INSTRUCTIONS (16 + AL_COUNT(rows) * 2 + ARGUMENT_ROWS * 4)

/* A BPF jump offset has eight bits. */
_Static_assert(FILTER_INSTRUCTIONS < 256, "a jump may not reach");

/*
 * Instructions are emitted from the end to the beginning: BPF jumps only lead forward, so a jump's
 * target is always there already.  Every emit function returns the index in `code` of its first
 * instruction, which is the target for jumps to it.
 */
struct filter {
    struct sock_filter code[FILTER_INSTRUCTIONS];
    unsigned first; /* index of the first instruction that was emitted */
    unsigned allow, refuse_perm, refuse_access, refuse_unknown, kill;
    struct sock_fprog program;
};

static struct filter filters[FILTERS]; /* by guards; [0] is not used */
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define ARG_LOW(n)  (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (n))
#define ARG_HIGH(n) (ARG_LOW(n) + 4)

/* Consecutive numbers with the same target. */
struct range {
    uint32_t first, last;
    unsigned target;
};

static unsigned emit(struct filter *filter, struct sock_filter instruction)
{
    assert(filter->first > 0);
    filter->code[--filter->first] = instruction;
    return filter->first;
}

static unsigned emit_return(struct filter *filter, uint32_t action)
{
    return emit(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static unsigned emit_load(struct filter *filter, size_t offset)
{
    return emit(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* Compare the loaded value (BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JSET) and jump to one of two targets. */
static unsigned emit_branch(struct filter *filter, uint16_t comparison, uint32_t value,
                            unsigned yes, unsigned no)
{
    const unsigned next = filter->first; /* jump offsets count from here */
    const struct sock_filter branch =
        BPF_JUMP(BPF_JMP | BPF_K | comparison, value, (uint8_t)(yes - next), (uint8_t)(no - next));

    return emit(filter, branch);
}

/* Emit what happens when the number is that of the row. */
static unsigned emit_row(struct filter *filter, const struct row *row, unsigned guards)
{
    const unsigned refuse = row->error == EACCES   ? filter->refuse_access
                            : row->error == ENOSYS ? filter->refuse_unknown
                                                   : filter->refuse_perm;
    unsigned low, next = filter->allow;

    if (row->unless) {
        (void)emit_branch(filter, BPF_JEQ, (uint32_t)(row->unless >> 32), filter->allow, refuse);
        low = emit_load(filter, ARG_HIGH(0));
        (void)emit_branch(filter, BPF_JEQ, (uint32_t)row->unless, low, refuse);
        return emit_load(filter, ARG_LOW(0));
    }
    if (row->bits) {
        if (guards & EXEC_ONCE)
            next = emit_branch(filter, BPF_JSET, row->unless_bits, filter->allow, refuse);
        (void)emit_branch(filter, BPF_JSET, row->bits, refuse, next);
        return emit_load(filter, ARG_LOW(0));
    }
    if (row->only[0]) {
        next = emit_branch(filter, BPF_JEQ, row->only[1], refuse, filter->allow);
        (void)emit_branch(filter, BPF_JEQ, row->only[0], refuse, next);
        return emit_load(filter, ARG_LOW(1));
    }
    return refuse;
}

/* The index that splits the ranges so that both halves cover about as many numbers; never 0. */
static size_t middle(const struct range *sorted, size_t count)
{
    const uint32_t wanted = (sorted[0].first + sorted[count - 1].last) / 2;
    size_t at = 1;

    while (at < count - 1 && sorted[at].first <= wanted)
        at++;
    return at;
}

/* A binary search tree with one range in each leaf. */
static unsigned emit_tree(struct filter *filter, const struct range *sorted, size_t count)
{
    unsigned below, from;
    size_t half;

    if (count == 1 && sorted->first == sorted->last)
        return emit_branch(filter, BPF_JEQ, sorted->first, sorted->target, filter->allow);
    if (count == 1) {
        below = emit_branch(filter, BPF_JGT, sorted->last, filter->allow, sorted->target);
        return emit_branch(filter, BPF_JGE, sorted->first, below, filter->allow);
    }
    half = middle(sorted, count);
    from = emit_tree(filter, sorted + half, count - half);
    below = emit_tree(filter, sorted, half);
    return emit_branch(filter, BPF_JGE, sorted[half].first, from, below);
}

static int by_number(const void *a, const void *b)
{
    const struct row *left = a, *right = b;

    return (left->number > right->number) - (left->number < right->number);
}

/* The rows of these guards as ranges, ordered by number. */
static size_t find_ranges(struct filter *filter, unsigned guards, struct range *ranges)
{
    struct row sorted[AL_COUNT(rows)];
    size_t nrows = 0, count = 0;

    for (size_t i = 0; i < AL_COUNT(rows); i++) {
        if (rows[i].filters & guards)
            sorted[nrows++] = rows[i];
    }
    qsort(sorted, nrows, sizeof(*sorted), by_number);
    for (size_t i = 0; i < nrows; i++) {
        const uint32_t number = sorted[i].number;
        const unsigned target = emit_row(filter, &sorted[i], guards);

        if (count && ranges[count - 1].last + 1 == number && ranges[count - 1].target == target)
            ranges[count - 1].last = number;
        else
            ranges[count++] = (struct range){ .first = number, .last = number, .target = target };
    }
    return count;
}

static void build(struct filter *filter, unsigned guards)
{
    struct range ranges[AL_COUNT(rows)];
    unsigned tree, native;
    size_t count;

    filter->first = FILTER_INSTRUCTIONS;
    filter->allow = emit_return(filter, SECCOMP_RET_ALLOW);
    filter->refuse_perm = emit_return(filter, SECCOMP_RET_ERRNO | EPERM);
    filter->refuse_access = emit_return(filter, SECCOMP_RET_ERRNO | EACCES);
    filter->refuse_unknown = emit_return(filter, SECCOMP_RET_ERRNO | ENOSYS);
    filter->kill = emit_return(filter, SECCOMP_RET_KILL_PROCESS);
    count = find_ranges(filter, guards, ranges);

    /* A program with another calling convention has other numbers, so it is killed. */
    tree = emit_tree(filter, ranges, count);
    (void)emit_branch(filter, BPF_JGE, FOREIGN_BIT, filter->kill, tree);
    native = emit_load(filter, offsetof(struct seccomp_data, nr));
    (void)emit_branch(filter, BPF_JEQ, NATIVE_ARCH, native, filter->kill);
    (void)emit_load(filter, offsetof(struct seccomp_data, arch));

    filter->program.filter = filter->code + filter->first;
    filter->program.len = (uint16_t)(FILTER_INSTRUCTIONS - filter->first);
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
