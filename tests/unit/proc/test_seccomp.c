// SPDX-License-Identifier: Apache-2.0
/* proc/seccomp.h: a filter refuses what its guards name and allows every other number.  The
 * kernel's part is played here, so that all numbers are tried; tests/confine/ has the kernel try
 * some. */
#include "proc/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "proc/proc.h"
#include "tests/lib/assert.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

#define NUMBERS 1000 /* more than there are */
#define PERM    (SECCOMP_RET_ERRNO | EPERM)
#define ACCESS  (SECCOMP_RET_ERRNO | EACCES)
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)

enum { EXEC_ONCE = 1, NO_SOCKETS = 2, NETWORK = 4, STREAM_PAIRS = 8, EVERY = 15 };

/* The action of a filter, run as the kernel runs it. */
static uint32_t answer_of(const struct sock_fprog *program, const struct seccomp_data *data)
{
    uint32_t loaded = 0;

    for (unsigned at = 0; at < program->len; at++) {
        const struct sock_filter *op = &program->filter[at];
        bool yes = false;

        switch (op->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            assert_in_range(op->k, 0, sizeof(*data) - sizeof(loaded));
            memcpy(&loaded, (const char *)data + op->k, sizeof(loaded));
            continue;
        case BPF_RET | BPF_K:
            return op->k;
        case BPF_ALU | BPF_AND | BPF_K:
            loaded &= op->k;
            continue;
        case BPF_JMP | BPF_JEQ | BPF_K:
            yes = loaded == op->k;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            yes = loaded >= op->k;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
            yes = loaded > op->k;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            yes = loaded & op->k;
            break;
        default:
            fail_msg("no such instruction: %#x", op->code);
        }
        at += yes ? op->jt : op->jf;
    }
    fail_msg("the filter has no end");
    return 0;
}

static const struct sock_fprog *filter_for(int guards)
{
    const struct al_confinement sandbox = { .exec_once = guards & EXEC_ONCE,
                                            .no_sockets = guards & NO_SOCKETS,
                                            .network = guards & NETWORK,
                                            .stream_pairs = guards & STREAM_PAIRS };

    return al_filter_get(&sandbox);
}

static uint32_t answer_to(int guards, int number, uint64_t first, uint64_t second)
{
    const struct seccomp_data data = { .nr = number, .arch = ARCH, .args = { first, second } };

    return answer_of(filter_for(guards), &data);
}

/* The action that each filter must have for a number, with arguments of 0. */
static uint32_t wanted(int guards, int number)
{
    static const struct {
        int number, guards;
        uint32_t answer;
    } rows[] = {
        { SYS_ptrace, EVERY, PERM },
        { SYS_process_vm_readv, EVERY, PERM },
        { SYS_process_vm_writev, EVERY, PERM },
        { 438 /* pidfd_getfd */, EVERY, PERM },
        { SYS_bpf, EVERY, PERM },
        { SYS_userfaultfd, EVERY, PERM },
        { SYS_keyctl, EVERY, PERM },
        { SYS_add_key, EVERY, PERM },
        { SYS_request_key, EVERY, PERM },
        { SYS_io_uring_setup, EVERY, PERM },
        { SYS_io_uring_enter, EVERY, PERM },
        { SYS_io_uring_register, EVERY, PERM },
        { SYS_perf_event_open, EVERY, PERM },
        { SYS_open_by_handle_at, EVERY, PERM },
        { SYS_unshare, EVERY, PERM },
        { SYS_setns, EVERY, PERM },
        { SYS_mount, EVERY, PERM },
        { SYS_umount2, EVERY, PERM },
        { SYS_pivot_root, EVERY, PERM },
        { 428 /* open_tree */, EVERY, PERM },
        { 429 /* move_mount */, EVERY, PERM },
        { 430 /* fsopen */, EVERY, PERM },
        { 431 /* fsconfig */, EVERY, PERM },
        { 432 /* fsmount */, EVERY, PERM },
        { 433 /* fspick */, EVERY, PERM },
        { 442 /* mount_setattr */, EVERY, PERM },
        { 467 /* open_tree_attr */, EVERY, PERM },
        { SYS_kexec_load, EVERY, PERM },
        { SYS_kexec_file_load, EVERY, PERM },
        { SYS_init_module, EVERY, PERM },
        { SYS_finit_module, EVERY, PERM },
        { SYS_delete_module, EVERY, PERM },
        { SYS_socket, NO_SOCKETS, ACCESS },
        { SYS_socketpair, NO_SOCKETS, ACCESS },
        { SYS_execve, EXEC_ONCE, PERM },
        { SYS_execveat, EXEC_ONCE, PERM },
#ifdef SYS_fork
        { SYS_fork, EXEC_ONCE, PERM },
        { SYS_vfork, EXEC_ONCE, PERM },
#endif
        { SYS_clone, EXEC_ONCE, PERM },
        { 435 /* clone3 */, EVERY, UNKNOWN },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].number == number && (rows[i].guards & guards))
            return rows[i].answer;
    return SECCOMP_RET_ALLOW;
}

static void answers_to_every_number(void **state)
{
    static const int combinations[] = { EXEC_ONCE, NO_SOCKETS, EXEC_ONCE | NO_SOCKETS, NETWORK,
                                        NO_SOCKETS | STREAM_PAIRS };

    (void)state;
    for (size_t i = 0; i < COUNT(combinations); i++)
        for (int number = 0; number < NUMBERS; number++)
            assert_int_equal(answer_to(combinations[i], number, 0, 0),
                             wanted(combinations[i], number));
}

static void looks_at_arguments_where_they_matter(void **state)
{
    const uint64_t high = UINT64_C(1) << 32;

    (void)state;
    assert_int_equal(answer_to(EXEC_ONCE, SYS_execve, AL_EXEC_PATH, 0), SECCOMP_RET_ALLOW);
    assert_int_equal(answer_to(EXEC_ONCE, SYS_execve, AL_EXEC_PATH - 1, 0), PERM);
    assert_int_equal(answer_to(EXEC_ONCE, SYS_execve, AL_EXEC_PATH + 1, 0), PERM);
    assert_int_equal(answer_to(EXEC_ONCE, SYS_execve, AL_EXEC_PATH | high, 0), PERM);
    assert_int_equal(answer_to(EXEC_ONCE, SYS_execve, 0, AL_EXEC_PATH), PERM);
    assert_int_equal(answer_to(NO_SOCKETS, SYS_execve, 0, 0), SECCOMP_RET_ALLOW);
    assert_int_equal(answer_to(EXEC_ONCE, SYS_clone, CLONE_THREAD | CLONE_VM, 0),
                     SECCOMP_RET_ALLOW);
    assert_int_equal(answer_to(EXEC_ONCE, SYS_clone, CLONE_PIDFD | CLONE_VFORK, 0), PERM);
    assert_int_equal(answer_to(EXEC_ONCE, SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0), PERM);
    assert_int_equal(answer_to(EXEC_ONCE, SYS_clone, SIGCHLD, CLONE_THREAD), PERM);
    assert_int_equal(answer_to(EXEC_ONCE, SYS_clone, (uint64_t)CLONE_THREAD << 32, 0), PERM);
    assert_int_equal(answer_to(NO_SOCKETS, SYS_clone, SIGCHLD, 0), SECCOMP_RET_ALLOW);
    for (int guards = EXEC_ONCE; guards <= NETWORK; guards++) {
        assert_int_equal(answer_to(guards, SYS_ioctl, 0, TIOCSTI), PERM);
        /* the kernel looks at 32 bits of a request */
        assert_int_equal(answer_to(guards, SYS_ioctl, 0, TIOCSTI | high), PERM);
        assert_int_equal(answer_to(guards, SYS_ioctl, 0, TIOCLINUX), PERM);
        assert_int_equal(answer_to(guards, SYS_ioctl, 0, TIOCLINUX | high), PERM);
        assert_int_equal(answer_to(guards, SYS_ioctl, 0, TIOCSTI + 1), SECCOMP_RET_ALLOW);
        assert_int_equal(answer_to(guards, SYS_ioctl, 0, TIOCLINUX + 1), SECCOMP_RET_ALLOW);
        assert_int_equal(answer_to(guards, SYS_ioctl, TIOCSTI, 0), SECCOMP_RET_ALLOW);
    }
}

/* New namespaces are refused whatever the other flags are; a filter that allows processes allows
 * clone without them. */
static void processes_get_no_namespaces(void **state)
{
    static const uint64_t namespaces[] = { CLONE_NEWUSER,  CLONE_NEWNS,  CLONE_NEWPID,
                                           CLONE_NEWNET,   CLONE_NEWIPC, CLONE_NEWUTS,
                                           CLONE_NEWCGROUP };
    static const uint64_t others[] = { SIGCHLD, CLONE_VM | CLONE_VFORK | SIGCHLD,
                                       CLONE_VM | CLONE_THREAD | CLONE_SIGHAND,
                                       CLONE_PIDFD | CLONE_VM | CLONE_VFORK };

    (void)state;
    for (size_t k = 0; k < COUNT(others); k++) {
        for (size_t i = 0; i < COUNT(namespaces); i++)
            for (int guards = EXEC_ONCE; guards <= NETWORK; guards++)
                assert_int_equal(answer_to(guards, SYS_clone, others[k] | namespaces[i], 0), PERM);
        assert_int_equal(answer_to(NO_SOCKETS, SYS_clone, others[k], 0), SECCOMP_RET_ALLOW);
        assert_int_equal(answer_to(NETWORK, SYS_clone, others[k], 0), SECCOMP_RET_ALLOW);
    }
}

static void kills_what_calls_by_other_numbers(void **state)
{
    const uint32_t foreign = 0x40000000;
    struct seccomp_data data = { .nr = SYS_read, .arch = ARCH };

    (void)state;
    for (int guards = EXEC_ONCE; guards <= NETWORK; guards++) {
        data.arch = ARCH;
        data.nr = SYS_read;
        assert_int_equal(answer_of(filter_for(guards), &data), SECCOMP_RET_ALLOW);
        data.arch = AUDIT_ARCH_I386;
        assert_int_equal(answer_of(filter_for(guards), &data), SECCOMP_RET_KILL_PROCESS);
        data.arch = ARCH;
        data.nr = (int)(foreign | SYS_read);
        assert_int_equal(answer_of(filter_for(guards), &data), SECCOMP_RET_KILL_PROCESS);
        data.nr = (int)(foreign - 1);
        assert_int_equal(answer_of(filter_for(guards), &data), SECCOMP_RET_ALLOW);
        data.nr = -1;
        assert_int_equal(answer_of(filter_for(guards), &data), SECCOMP_RET_KILL_PROCESS);
    }
}

/* Every family, type and pair of flags that there is, and a few that there are not. */
static void only_pairs_of_streams_are_unix_sockets(void **state)
{
    static const int flags[] = { 0, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_CLOEXEC | SOCK_NONBLOCK };
    static const int with_pairs[] = { NO_SOCKETS | STREAM_PAIRS, NETWORK | STREAM_PAIRS };
    const uint64_t high = UINT64_C(1) << 32; /* the kernel looks at 32 bits */

    (void)state;
    for (size_t k = 0; k < COUNT(with_pairs); k++) {
        const int guards = with_pairs[k];

        for (uint64_t family = 0; family < 64; family++)
            for (uint64_t type = 0; type < 16; type++)
                for (size_t i = 0; i < COUNT(flags); i++) {
                    const uint64_t full = type | (uint64_t)flags[i];
                    const bool pair = family == AF_UNIX && type == SOCK_STREAM;
                    const bool socket = (guards & NETWORK) && family != AF_UNIX;

                    assert_int_equal(answer_to(guards, SYS_socketpair, family, full),
                                     pair ? SECCOMP_RET_ALLOW : ACCESS);
                    assert_int_equal(answer_to(guards, SYS_socketpair, family | high, full | high),
                                     pair ? SECCOMP_RET_ALLOW : ACCESS);
                    assert_int_equal(answer_to(guards, SYS_socket, family, full),
                                     socket ? SECCOMP_RET_ALLOW : ACCESS);
                    assert_int_equal(answer_to(guards, SYS_socket, family | high, full),
                                     socket ? SECCOMP_RET_ALLOW : ACCESS);
                }
        assert_int_equal(answer_to(guards, SYS_ptrace, 0, 0), PERM);
        assert_int_equal(answer_to(guards, SYS_execve, 0, 0), SECCOMP_RET_ALLOW);
    }
}

static void exec_once_has_no_pairs(void **state)
{
    const int guards = EXEC_ONCE | NO_SOCKETS | STREAM_PAIRS;

    (void)state;
    assert_int_equal(answer_to(guards, SYS_socketpair, AF_UNIX, SOCK_STREAM), ACCESS);
}

static void no_guard_is_no_filter(void **state)
{
    (void)state;
    assert_null(filter_for(0));
    assert_null(filter_for(STREAM_PAIRS));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_to_every_number),
        cmocka_unit_test(looks_at_arguments_where_they_matter),
        cmocka_unit_test(processes_get_no_namespaces),
        cmocka_unit_test(kills_what_calls_by_other_numbers),
        cmocka_unit_test(only_pairs_of_streams_are_unix_sockets),
        cmocka_unit_test(exec_once_has_no_pairs),
        cmocka_unit_test(no_guard_is_no_filter),
    };

    return cmocka_run_group_tests_name("proc/seccomp", tests, NULL, NULL);
}
