// SPDX-License-Identifier: Apache-2.0
/*
 * A filter is a table of rows; every row refuses something, and what no row names is allowed.
 *
 * The table is no allow list of system calls: the programs are git, its helpers and whatever a
 * person allowed in the shell, and the kernel and libc under them change.  Files and programs are
 * Landlock's business; a row here closes what Landlock does not cover.
 *
 * The rows become a search tree over the numbers, with one of each answer.  A plain chain of
 * comparisons would do the same, but the kernel compiles a new filter and walks it once for every
 * system call there is, so that each child starts later by what the filter is longer.
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
    FILTERS = 5, /* the two first together, either, or the last alone */
};

/* A system call that fails with `error`, for all arguments or as the other members say. */
struct row {
    uint32_t number;
    unsigned filters;
    int error;            /* EPERM, EACCES or ENOSYS */
    uint32_t only[2];     /* refused only with one of these second arguments (requests of ioctl) */
    uint64_t unless;      /* refused unless this is the first argument (an address) */
    uint32_t bits;        /* refused if the first argument has one of these */
    uint32_t unless_bits; /* in EXEC_ONCE also refused unless it has one of these */
};

/* A process in namespaces of its own.  CLONE_NEWTIME is not among them: in clone's flags its bit is
 * part of a signal's number. */
#define NEW_NAMESPACES                                                                             \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |     \
     CLONE_NEWCGROUP)

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
    { .number = SYS_perf_event_open, .filters = EVERY, .error = EPERM },
    { .number = SYS_open_by_handle_at, .filters = EVERY, .error = EPERM },

    /*
     * Namespaces, above all the user's: whoever is root in one reaches kernel code that no
     * unprivileged process reaches otherwise.  Mounting comes next, by the old way and the new one.
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

    /* Another kernel, or more of this one: for a server that runs as root. */
    { .number = SYS_kexec_load, .filters = EVERY, .error = EPERM },
    { .number = SYS_kexec_file_load, .filters = EVERY, .error = EPERM },
    { .number = SYS_init_module, .filters = EVERY, .error = EPERM },
    { .number = SYS_finit_module, .filters = EVERY, .error = EPERM },
    { .number = SYS_delete_module, .filters = EVERY, .error = EPERM },

    /*
     * Makes system calls that no filter sees.  EPERM is what programs get from the kernel's own
     * switch (kernel.io_uring_disabled), and fall back on.
     */
    { .number = SYS_io_uring_setup, .filters = EVERY, .error = EPERM },
    { .number = SYS_io_uring_enter, .filters = EVERY, .error = EPERM },
    { .number = SYS_io_uring_register, .filters = EVERY, .error = EPERM },

    /* Typing into a terminal, and pasting into a console. */
    { .number = SYS_ioctl, .filters = EVERY, .error = EPERM, .only = { TIOCSTI, TIOCLINUX } },

    /* No family is harmless: a local socket's path is not covered by Landlock. */
    { .number = SYS_socket, .filters = NO_SOCKETS, .error = EACCES },
    { .number = SYS_socketpair, .filters = NO_SOCKETS, .error = EACCES },

    /*
     * execve only with the address of the page the parent prepared, which the first execve takes
     * away with the rest of the old memory.
     */
    { .number = SYS_execve, .filters = EXEC_ONCE, .error = EPERM, .unless = AL_EXEC_PATH },
    { .number = SYS_execveat, .filters = EXEC_ONCE, .error = EPERM },

/*
 * No process of any filter gets namespaces of its own.  One that can execute nothing has no use for
 * another process at all: it makes threads, and nobody is left when it is killed.  Processes of the
 * parent's making are told by the descriptor it asks for (al_spawn()), which git does not, nor libc
 * where it is not asked to.  clone3 hands its flags over in memory, where no filter looks; libc and
 * Go take ENOSYS for an old kernel and use clone.
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

/* The rows that look at an argument: ioctl, execve, clone. */
#define ARGUMENT_ROWS 3

/* The head and the answers, for each row its comparison and a branch, and at most four to look at
 * an argument. */
#define FILTER_INSTRUCTIONS (16 + AL_COUNT(rows) * 2 + ARGUMENT_ROWS * 4)

/* Jumps within a filter are counted in eight bits. */
_Static_assert(FILTER_INSTRUCTIONS < 256, "a jump may not reach");

/*
 * Filters are written from their end to their beginning: jumps only lead forward, so that where a
 * jump leads is there before the jump is.  A place is an index into `code`.
 */
struct filter {
    struct sock_filter code[FILTER_INSTRUCTIONS];
    unsigned first; /* of the instructions that are written */
    unsigned allow, refuse_perm, refuse_access, refuse_unknown, kill;
    struct sock_fprog program;
};

static struct filter filters[FILTERS]; /* by the guards that are on; [0] is not used */
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define ARG_LOW(n)  (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (n))
#define ARG_HIGH(n) (ARG_LOW(n) + 4)

/* Numbers that are next to each other and get the same. */
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

/* Compare what is loaded (BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JSET) and go to one of two places. */
static unsigned emit_branch(struct filter *filter, uint16_t comparison, uint32_t value,
                            unsigned yes, unsigned no)
{
    const unsigned next = filter->first; /* from where jumps are counted */
    const struct sock_filter branch =
        BPF_JUMP(BPF_JMP | BPF_K | comparison, value, (uint8_t)(yes - next), (uint8_t)(no - next));

    return emit(filter, branch);
}

/* What happens once the number is that of the row. */
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

/* Where to part ranges so that either side has about as many numbers, named or not; never 0. */
static size_t middle(const struct range *sorted, size_t count)
{
    const uint32_t wanted = (sorted[0].first + sorted[count - 1].last) / 2;
    size_t at = 1;

    while (at < count - 1 && sorted[at].first <= wanted)
        at++;
    return at;
}

/* One range at the end of each path, the rest parted again. */
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

/* The rows of these guards as ranges in the order of their numbers. */
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

    /* A program built for another calling convention would be judged by the wrong numbers. */
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
