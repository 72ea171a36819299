// SPDX-License-Identifier: Apache-2.0
/*
 * What the parent prepares and the new process carries out between clone and execve.
 *
 * With CLONE_VM the child runs in the parent's memory while the parent's thread waits, so it reads
 * one plan and makes system calls, and does nothing else (docs/SECURITY-MODEL.md).
 */
#ifndef AL_PROC_CHILD_H
#define AL_PROC_CHILD_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/** The steps of a child, in order; a failed one is reported by its number. */
enum al_child_step {
    AL_STEP_SESSION = 1, /**< setsid */
    AL_STEP_PARENT,      /**< end with the thread that started it */
    AL_STEP_STREAMS,     /**< descriptors 0 to 2 */
    AL_STEP_CLOSE,       /**< everything above closes at execve, but for what is kept */
    AL_STEP_DIRECTORY,   /**< fchdir */
    AL_STEP_LIMITS,      /**< resource limits */
    AL_STEP_SIGNALS,     /**< dispositions, then the mask */
    AL_STEP_PRIVILEGES,  /**< no_new_privs */
    AL_STEP_LANDLOCK,
    AL_STEP_SECCOMP,
    AL_STEP_EXEC,
};

/** What a child writes to report_fd when a step fails; nothing when execve succeeded. */
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

/** All of it borrowed, complete and constant before the child starts.  Descriptors are above 2. */
struct al_child_plan {
    const char *program;
    const char *const *argv;
    const char *const *envp;
    pid_t parent;             /**< who must be alive for as long as the child is */
    int death_signal;         /**< what the child gets when it is not */
    uint64_t changed_signals; /**< whose disposition is not the default; bit 0 is signal 1 */
    int stream_fds[3];        /**< become 0, 1 and 2 */
    int report_fd;            /**< close-on-exec */
    const int *kept_fds;      /**< stay open under their numbers */
    size_t nkept_fds;
    int cwd_fd;
    int ruleset_fd;                  /**< -1: no Landlock */
    const struct sock_fprog *filter; /**< NULL: no seccomp */
    bool keep_setuid;
    struct al_child_limit limits[AL_CHILD_LIMITS];
    size_t nlimits;
};

/** The child, given its plan; returns only to satisfy clone(2)'s type. */
int al_child_main(void *arg);

#endif
