// SPDX-License-Identifier: Apache-2.0
/*
 * Filters are constant arrays of rows; every row but the last refuses something.
 *
 * They are no allow list of system calls: the programs are git, its helpers and whatever a person
 * allowed in the shell, and the kernel and libc under them change.  Files and programs are
 * Landlock's business; a row here closes what Landlock does not cover.
 */
#include "proc/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "util/mem.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#define X32_BIT     0x40000000u
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
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

#define LOAD(offset)             BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define RETURN(action)           BPF_STMT(BPF_RET | BPF_K, (action))
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), (yes), (no))
#define REFUSE(error)            RETURN(SECCOMP_RET_ERRNO | (error))
#define ARG_LOW(n)               (offsetof(struct seccomp_data, args) + 8 * (n))
#define ARG_HIGH(n)              (ARG_LOW(n) + 4)

/* One row: a system call that always fails. */
#define DENY(number, error) IF_EQUAL(number, 0, 1), REFUSE(error)

/* A program built for another calling convention would be judged by the wrong numbers. */
#define CHECK_ARCH                                                                                 \
    LOAD(offsetof(struct seccomp_data, arch)), IF_EQUAL(NATIVE_ARCH, 1, 0),                        \
        RETURN(SECCOMP_RET_KILL_PROCESS), LOAD(offsetof(struct seccomp_data, nr))
#ifdef X32_BIT
#define CHECK_X32                                                                                  \
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS),
#else
#define CHECK_X32
#endif

/*
 * Reaching into other processes (the server is one, where Landlock is missing), kernel interfaces
 * that no tool needs and that many exploits begin with, and typing into a terminal.  io_uring makes
 * system calls that no filter sees; EPERM is what programs get from the kernel's own switch
 * (kernel.io_uring_disabled), and fall back on.
 */
#define COMMON_ROWS                                                                                \
    DENY(SYS_ptrace, EPERM), DENY(SYS_process_vm_readv, EPERM),                                    \
        DENY(SYS_process_vm_writev, EPERM), DENY(SYS_pidfd_getfd, EPERM), DENY(SYS_bpf, EPERM),    \
        DENY(SYS_userfaultfd, EPERM), DENY(SYS_keyctl, EPERM), DENY(SYS_add_key, EPERM),           \
        DENY(SYS_request_key, EPERM), DENY(SYS_io_uring_setup, EPERM),                             \
        DENY(SYS_io_uring_enter, EPERM), DENY(SYS_io_uring_register, EPERM),                       \
        IF_EQUAL(SYS_ioctl, 0, 4), LOAD(ARG_LOW(1)), IF_EQUAL(TIOCSTI, 0, 1), REFUSE(EPERM),       \
        RETURN(SECCOMP_RET_ALLOW)

/* No family is harmless: a local socket's path is not covered by Landlock. */
#define SOCKET_ROWS DENY(SYS_socket, EACCES), DENY(SYS_socketpair, EACCES)

/*
 * execve only with the address of the page the parent prepared, which the first execve takes away
 * with the rest of the old memory.  Nothing else can be executed then, so a process that forks can
 * only leave the process group by itself: denying that makes killing the group complete.
 */
#define EXEC_ONCE_ROWS                                                                             \
    DENY(SYS_execveat, EPERM), DENY(SYS_setsid, EPERM), DENY(SYS_setpgid, EPERM),                  \
        IF_EQUAL(SYS_execve, 0, 6), LOAD(ARG_LOW(0)), IF_EQUAL(AL_EXEC_PATH & 0xffffffffUL, 0, 2), \
        LOAD(ARG_HIGH(0)), IF_EQUAL(AL_EXEC_PATH >> 32, 1, 0), REFUSE(EPERM),                      \
        RETURN(SECCOMP_RET_ALLOW)

#define LAST_ROW RETURN(SECCOMP_RET_ALLOW)

static const struct sock_filter exec_once_rows[] = {
    CHECK_ARCH,
    CHECK_X32 COMMON_ROWS,
    EXEC_ONCE_ROWS,
    LAST_ROW,
};

static const struct sock_filter no_socket_rows[] = {
    CHECK_ARCH,
    CHECK_X32 COMMON_ROWS,
    SOCKET_ROWS,
    LAST_ROW,
};

static const struct sock_filter both_rows[] = {
    CHECK_ARCH, CHECK_X32 COMMON_ROWS, SOCKET_ROWS, EXEC_ONCE_ROWS, LAST_ROW,
};

/* The kernel only reads the rows; its structure just does not say so. */
#define FILTER(rows)                                                                               \
    {                                                                                              \
        .len = AL_COUNT(rows), .filter = (struct sock_filter *)(uintptr_t)(rows)                   \
    }

const struct sock_fprog *al_filter_get(bool exec_once, bool no_sockets)
{
    static const struct sock_fprog once = FILTER(exec_once_rows), offline = FILTER(no_socket_rows),
                                   both = FILTER(both_rows);

    if (exec_once && no_sockets)
        return &both;
    if (exec_once)
        return &once;
    return no_sockets ? &offline : NULL;
}
