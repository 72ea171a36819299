// SPDX-License-Identifier: Apache-2.0
/*
 * Builds filters from a table of rows.  Each row refuses a system call; all others are allowed.
 *
 * An allow list is not possible: the programs are git, its helpers and whatever the user allows in
 * the shell, and kernel and libc change.  Landlock restricts files and programs; a row here closes
 * a gap that Landlock leaves.
 *
 * A filter is a chain of comparisons with the system call number.  The kernel runs it once for
 * every number when it is installed, and remembers which ones are always allowed (since
 * Linux 5.11).
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
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "proc/proc.h"

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

/* The numbers are the same on every architecture since 5.1. */
#ifndef SYS_open_tree_attr /* Linux 6.15 */
#define SYS_open_tree_attr 467
#endif

/* The filters that a row belongs to. */
enum {
    EXEC_ONCE = 1 << 0,
    NO_SOCKETS = 1 << 1,
    NETWORK = 1 << 2,
    PAIRS = 1 << 3,         /* no socket but a connected pair of streams */
    NETWORK_PAIRS = 1 << 4, /* the same of UNIX sockets; others are allowed */
    EVERY = EXEC_ONCE | NO_SOCKETS | NETWORK | PAIRS | NETWORK_PAIRS,
    FILTERS = NETWORK_PAIRS + 1, /* the first two also together, the others alone */
};

/* System calls that every filter refuses. */
static const uint32_t refused[] = {
    /* Access to the memory and descriptors of other processes: without Landlock, also of the
       server. */
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd,

    /* Kernel interfaces that no tool needs and that many exploits use. */
    SYS_bpf, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_perf_event_open,
    SYS_open_by_handle_at,

    /*
     * Namespaces: root in a user namespace reaches kernel code that no other unprivileged process
     * reaches.  Mounts, by the old and the new interface.
     */
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_open_tree,
    SYS_open_tree_attr, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
    SYS_mount_setattr,

    /* Loading kernels and modules, in case the server runs as root. */
    SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module, SYS_delete_module,

    /*
     * io_uring makes system calls that no filter sees.  The kernel gives EPERM as well with
     * kernel.io_uring_disabled, and programs fall back.
     */
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register
};

/* A system call that fails with `error`: always, or only as one of the last members says. */
struct row {
    uint32_t number;
    unsigned filters;
    int error;            /* EPERM, EACCES or ENOSYS */
    unsigned arg;         /* refused only if this argument, the first being 0, */
    uint32_t only[2];     /* is one of these (ioctl requests, a family of sockets) */
    uint64_t unless;      /* refused unless this is the first argument (an address) */
    uint32_t bits;        /* refused if the first argument has one of these */
    uint32_t unless_bits; /* in EXEC_ONCE also refused unless it has one of these */
    bool unless_pair;     /* refused unless the arguments ask for a pair of UNIX streams */
};

/* Flags of clone for new namespaces.  CLONE_NEWTIME is not one of them: clone takes that bit as
 * part of the exit signal. */
#define NEW_NAMESPACES                                                                             \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |     \
     CLONE_NEWCGROUP)

static const struct row rows[] = {
    /* Input into a terminal or a console. */
    { .number = SYS_ioctl,
      .filters = EVERY,
      .error = EPERM,
      .arg = 1,
      .only = { TIOCSTI, TIOCLINUX } },

    /* Every family, since Landlock does not cover the path of a UNIX socket. */
    { .number = SYS_socket, .filters = NO_SOCKETS, .error = EACCES },
    { .number = SYS_socketpair, .filters = NO_SOCKETS, .error = EACCES },

    /*
     * Runtimes such as node talk to their own children over pairs of streams, which lead nowhere
     * else: a connected stream cannot be connected again.  A pair of datagram sockets can send to
     * any path.  A server that may use the network gets no UNIX socket either: the session's bus,
     * ssh's agent or docker would start programs for it that are not confined.
     */
    { .number = SYS_socket, .filters = PAIRS, .error = EACCES },
    { .number = SYS_socket,
      .filters = NETWORK_PAIRS,
      .error = EACCES,
      .only = { AF_UNIX, AF_UNIX } },
    { .number = SYS_socketpair,
      .filters = PAIRS | NETWORK_PAIRS,
      .error = EACCES,
      .unless_pair = true },

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
 * left when it is killed.
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
      .unless_bits = CLONE_THREAD },
    { .number = SYS_clone3, .filters = EVERY, .error = ENOSYS },
};

/* The begin and end of a filter, and the longest row for each row. */
#define FILTER_INSTRUCTIONS (6 + AL_COUNT(refused) * 2 + AL_COUNT(rows) * 8)

#define SOCKET_TYPE_BITS    0xf /* the kernel's SOCK_TYPE_MASK; the rest are flags */

struct filter {
    struct sock_filter code[FILTER_INSTRUCTIONS];
    struct sock_fprog program;
};

static struct filter filters[FILTERS]; /* by guards; [0] is not used */
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define ARG_LOW(n)  (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (n))
#define ARG_HIGH(n) (ARG_LOW(n) + 4)

/* Append instructions. */
static void add(struct filter *filter, const struct sock_filter *code, size_t count)
{
    assert(filter->program.len + count <= FILTER_INSTRUCTIONS);
    memcpy(filter->code + filter->program.len, code, count * sizeof(*code));
    filter->program.len = (uint16_t)(filter->program.len + count);
}

/* Append a row.  Its first instruction jumps behind its last one if the number is another. */
static void add_row(struct filter *filter, const struct row *row, bool exec_once)
{
    const uint32_t refuse = SECCOMP_RET_ERRNO | (uint32_t)row->error;
    const struct sock_filter unless[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, row->number, 0, 6),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG_LOW(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)row->unless, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG_HIGH(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(row->unless >> 32), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, refuse),
    };
    const struct sock_filter bits[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, row->number, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG_LOW(0)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, row->bits, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, row->unless_bits, 0, exec_once ? 1 : 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, refuse),
    };
    const struct sock_filter only[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, row->number, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG_LOW(row->arg)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, row->only[0], 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, row->only[1], 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, refuse),
    };
    const struct sock_filter unless_pair[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, row->number, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG_LOW(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG_LOW(1)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE_BITS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, refuse),
    };
    const struct sock_filter always[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, row->number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, refuse),
    };

    if (row->unless)
        add(filter, unless, AL_COUNT(unless));
    else if (row->bits)
        add(filter, bits, AL_COUNT(bits));
    else if (row->only[0])
        add(filter, only, AL_COUNT(only));
    else if (row->unless_pair)
        add(filter, unless_pair, AL_COUNT(unless_pair));
    else
        add(filter, always, AL_COUNT(always));
}

static void build(struct filter *filter, unsigned guards)
{
    /* A program with another calling convention has other numbers, so it is killed. */
    static const struct sock_filter begin[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN_BIT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    static const struct sock_filter end[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };

    filter->program = (struct sock_fprog){ .filter = filter->code };
    add(filter, begin, AL_COUNT(begin));
    for (size_t i = 0; i < AL_COUNT(refused); i++)
        add_row(filter, &(struct row){ .number = refused[i], .error = EPERM }, false);
    for (size_t i = 0; i < AL_COUNT(rows); i++) {
        if (rows[i].filters & guards)
            add_row(filter, &rows[i], guards & EXEC_ONCE);
    }
    add(filter, end, AL_COUNT(end));
}

static void build_all(void)
{
    static const unsigned built[] = { EXEC_ONCE, NO_SOCKETS, EXEC_ONCE | NO_SOCKETS,
                                      NETWORK,   PAIRS,      NETWORK_PAIRS };

    for (size_t i = 0; i < AL_COUNT(built); i++)
        build(&filters[built[i]], built[i]);
}

const struct sock_fprog *al_filter_get(const struct al_confinement *sandbox)
{
    unsigned guards =
        (sandbox->exec_once ? EXEC_ONCE : 0u) | (sandbox->no_sockets ? NO_SOCKETS : 0u);

    if (!guards && sandbox->network)
        guards = sandbox->stream_pairs ? NETWORK_PAIRS : NETWORK;
    else if (guards == NO_SOCKETS && sandbox->stream_pairs)
        guards = PAIRS;
    if (!guards)
        return NULL;
    pthread_once(&once, build_all);
    return &filters[guards].program;
}
