// SPDX-License-Identifier: Apache-2.0
/*
 * The code of a new process between clone(2) and execve(2), and the plan that the parent gives it.
 *
 * CLONE_VM lets the child run in the memory of the parent, whose thread waits meanwhile.  The child
 * therefore only reads the plan and makes system calls (docs/SECURITY-MODEL.md).
 */
#ifndef AL_PROC_CHILD_H
#define AL_PROC_CHILD_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/** The steps of a child, in order.  A failed step is reported by its number. */
enum al_child_step {
    AL_STEP_SESSION = 1, /**< setsid */
    AL_STEP_PARENT,      /**< PR_SET_PDEATHSIG: end with the thread that started it */
    AL_STEP_STREAMS,     /**< descriptors 0 to 2 */
    AL_STEP_CLOSE,       /**< close-on-exec for all others, except kept ones */
    AL_STEP_DIRECTORY,   /**< fchdir */
    AL_STEP_LIMITS,      /**< resource limits */
    AL_STEP_SIGNALS,     /**< dispositions, then the mask */
    AL_STEP_PRIVILEGES,  /**< no_new_privs */
    AL_STEP_LANDLOCK,
    AL_STEP_SECCOMP,
    AL_STEP_EXEC,
};

/** Written to report_fd when a step fails; nothing is written when execve succeeds. */
struct al_child_report {
    int step; /* enum al_child_step */
    int error;
};

/** One setrlimit(2). */
struct al_child_limit {
    int resource;
    struct rlimit value;
};

#define AL_CHILD_LIMITS 5

/** The plan of a child.  All of it is borrowed, and does not change once the child starts.
 * Descriptors are above 2. */
struct al_child_plan {
    const char *program;
    const char *const *argv;
    const char *const *envp;
    pid_t parent;             /**< the parent, with which the child ends */
    int death_signal;         /**< the signal for the child when the parent ends */
    uint64_t changed_signals; /**< signals without default disposition; bit 0 is signal 1 */
    int stream_fds[3];        /**< become descriptors 0, 1 and 2 */
    int report_fd;            /**< close-on-exec */
    const int *kept_fds;      /**< stay open under the same numbers */
    size_t nkept_fds;
    int cwd_fd;
    int ruleset_fd;                  /**< 0: no Landlock */
    bool reads_own_proc;             /**< Landlock lets it read /proc/self */
    const struct sock_fprog *filter; /**< NULL: no seccomp */
    bool keep_setuid;
    struct al_child_limit limits[AL_CHILD_LIMITS];
    size_t nlimits;
};

/** The main function of the child, given its plan.  Never returns; clone(2) wants the type. */
int al_child_main(void *arg);

#endif
