// SPDX-License-Identifier: Apache-2.0
/*
 * A process that goes on behind the one that was started, until another one tells it to end: what
 * one event of a client begins and a later one ends.
 */
#ifndef AL_PROC_HOLD_H
#define AL_PROC_HOLD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** The end that a held process was told of, and the signal for it. */
enum al_hold_end {
    AL_HOLD_ENDED = SIGUSR1,   /**< what it waits for has ended */
    AL_HOLD_DROPPED = SIGUSR2, /**< nobody will say so, or the client is gone */
};

/**
 * Fork a process with a session of its own, which has none of the standard streams.  Call this
 * before any thread is started.
 *
 * @param client       The process that it ends with; 0: it is not known.
 * @param[out] ret_fd  In this process: a pipe that it reads what the other one writes from, and its
 *                     end.  In the other one: where to write.
 * @return The id of the other process; 0 in that one; -errno.
 */
pid_t al_hold_begin(pid_t client, int *ret_fd);

/** In the held process: wait until it is told to end, or the client is gone: where that is not
 * known, the next process above the one that began it that did not end with that. */
enum al_hold_end al_hold_wait(void);

/** In the held process: whether it has been told to end before it waits for that. */
bool al_hold_is_over(void);

/** Tell a held process to end.  A pidfd to wait for it with, or -errno; -EALREADY: it has been told
 * so before, and did not wait for that yet. */
int al_hold_end(pid_t pid, enum al_hold_end how);

/** Wait for input from a descriptor, or for the end of the process of a pidfd.  False: not before
 * the deadline of al_clock_ms(). */
bool al_hold_await(int fd, int64_t deadline_ms);

#endif
