// SPDX-License-Identifier: Apache-2.0
/* Starts a child: the parent's part. */
#ifndef AL_PROC_SPAWN_H
#define AL_PROC_SPAWN_H

#include "proc/proc.h"
#include "proc/reaper.h"

/** A started child and the parent's ends of its streams. */
struct al_spawned {
    struct al_child process;      /**< registered (proc/reaper.h) */
    int out_fd, err_fd;           /**< -1: none */
    struct al_watching *watching; /**< NULL: it is not watched */
};

#define AL_SPAWNED_INIT                                                                            \
    ((struct al_spawned){ .process = { .pidfd = -1 }, .out_fd = -1, .err_fd = -1 })

/**
 * Start spec->program, and return after its execve succeeded or failed.
 *
 * @return 0, or the error of al_proc_run() for a child that could not be started; then nothing ran
 *         and nothing is left.
 * Ownership: al_child_end() ends the child; al_spawned_clear() is then due, also after a failure.
 * The struct begins as AL_SPAWNED_INIT, and must not move in between.
 */
int al_spawn(const struct al_proc_spec *spec, struct al_spawned *ret_child, struct al_error *err);
void al_spawned_clear(struct al_spawned *child);

/** Note which signals do not have the default disposition, and open /dev/null once.  0 or
 * AL_ERR_EXECUTION. */
int al_spawn_init(struct al_error *err);

/** proc.c: check that a spec can be run.  0, AL_ERR_EXECUTION or AL_ERR_SANDBOX. */
int al_spec_check(const struct al_proc_spec *spec, struct al_error *err);

/** proc.c: count a child for al_proc_started(). */
void al_proc_count_start(void);

#endif
