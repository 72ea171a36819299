// SPDX-License-Identifier: Apache-2.0
/*
 * Starts a child: the parent's part; and children that work beside their caller until that ends
 * them, such as servers.  al_proc_run() is for all others.
 *
 * Source: clone(2) (CLONE_PIDFD), prctl(2) (PR_SET_PDEATHSIG).
 */
#ifndef AL_PROC_SPAWN_H
#define AL_PROC_SPAWN_H

#include "proc/proc.h"
#include "proc/reaper.h"

/** A started child and the parent's ends of its streams. */
struct al_spawned {
    struct al_child process; /**< registered (proc/reaper.h); its pidfd is readable from the time
                                  it ends */
    int out_fd, err_fd;      /**< read ends of its streams; -1 for one that is redirected */
    bool exec_once;          /**< of its sandbox */
    struct al_watching *watching; /**< NULL: it is not watched */
};

#define AL_SPAWNED_INIT                                                                            \
    ((struct al_spawned){ .process = { .pidfd = -1 }, .out_fd = -1, .err_fd = -1 })

/**
 * Start spec->program, and return after its execve succeeded or failed.
 *
 * @return 0, or the error of al_proc_run() for a child that cannot be started; then nothing ran and
 *         nothing is left.
 * Ownership: al_child_end() ends the child; al_spawned_clear() is then due, also after a failure.
 * The struct begins as AL_SPAWNED_INIT, and must not move in between.
 */
int al_spawn(const struct al_proc_spec *spec, struct al_spawned *ret_child, struct al_error *err);
void al_spawned_clear(struct al_spawned *child);

/** The end of a child, as al_child_end() tells it. */
struct al_proc_result al_spawned_result(const siginfo_t *info);

/** Note which signals do not have the default disposition, and open /dev/null once.  0 or
 * AL_ERR_EXECUTION. */
int al_spawn_init(struct al_error *err);

/**
 * Start a program that works beside its caller.
 *
 * It takes no job (proc/jobs.c), since it waits most of the time.  Of the specification, `out`,
 * `err`, `drains`, `cancel` and `timeout_ms` have no effect: the caller reads the streams and
 * watches the clock.
 *
 * @return 0 with *ret_running, for al_running_end(); or as al_spawn().
 * Threads: the child is killed when the calling thread ends, so the thread must live as long.
 */
int al_running_start(const struct al_proc_spec *spec, struct al_spawned **ret_running,
                     struct al_error *err);

/** Kill the child unless it has ended, after its grace_ms; kill and reap all that it started; free
 * `running`.  *ret_result says how the child ended, also when it was killed here, but not how long
 * it ran. */
void al_running_end(struct al_spawned *running, struct al_proc_result *ret_result);

#endif
