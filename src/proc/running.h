// SPDX-License-Identifier: Apache-2.0
/*
 * A child that works beside its caller until the caller ends it: a server.  al_proc_run() is for
 * all others.
 *
 * Source: clone(2) (CLONE_PIDFD), prctl(2) (PR_SET_PDEATHSIG).
 */
#ifndef AL_PROC_RUNNING_H
#define AL_PROC_RUNNING_H

#include "proc/proc.h"

struct al_running;

/**
 * Start a program in its own session under its sandbox, and return once its execve has succeeded.
 *
 * It takes no job (proc/jobs.c), since it waits most of the time.  Of the specification, `out`,
 * `err`, `drains`, `cancel` and `timeout_ms` have no effect: the caller reads the streams and
 * watches the clock.
 *
 * @return 0 with *ret_running, for al_running_end(); or as al_proc_run().
 * Threads: the child is killed when the calling thread ends, so the thread must live as long.
 */
int al_running_start(const struct al_proc_spec *spec, struct al_running **ret_running,
                     struct al_error *err);

/** The read ends of standard output and standard error; -1 for one that the specification
 * redirects.  Borrowed. */
int al_running_out_fd(const struct al_running *running);
int al_running_err_fd(const struct al_running *running);

/** A descriptor that is readable from the time the child ends.  Borrowed. */
int al_running_pidfd(const struct al_running *running);

/** Kill the child unless it has ended, after its grace_ms; kill and reap all that it started; free
 * `running`.  *ret_result says how the child ended, also when it was killed here. */
void al_running_end(struct al_running *running, struct al_proc_result *ret_result);

#endif
