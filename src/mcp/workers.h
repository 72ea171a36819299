// SPDX-License-Identifier: Apache-2.0
/*
 * The threads that serve messages: a Leader/Followers thread pool.
 *
 * One thread, the leader, reads.  When it reads a call it promotes a follower to leader and runs
 * the call itself, so no other thread has to be woken between the arrival of a call and its work,
 * and the messages behind the call do not wait for it.
 *
 *   state     what the thread does                      how many
 *   leader    reads and serves messages                 at most one
 *   follower  waits in epoll_wait()                     any; at least one while a call runs
 *   running   runs a call, then queued calls            up to AL_CALLS_MAX
 *
 *   from      to        when
 *   follower  leader    epoll reports the input, and the event has the current term
 *   leader    running   it read a call that may run now (al_calls_admit())
 *   leader    follower  no call was left in what it read
 *   follower  running   epoll reports that a queued call may run (mcp/backlog.c)
 *   running   follower  no queued call may run, and fewer than FREE_MAX threads are free
 *   running   ended     no queued call may run, and the pool is full or ending
 *   follower  ended     the pool is ending
 *
 * The limits, and how threads are made and joined, are in mcp/pool.h.
 *
 * Invariants:
 *   - A thread is free while it is leader or follower, and `nfree` counts the free threads.
 *   - At least one thread is free.  The last free thread makes another before it runs a call; if
 *     none can be made, the call is refused.
 *   - The leader alone touches the reader, `buffered` and what the serve callback works on.
 *   - Promotion arms the input once (EPOLLONESHOT) under a new term.  The thread that gets the
 * event with this term is the leader; events with an older term are stale.
 *
 * The kernel wakes the follower that began to wait last, whose caches are warm.
 *
 * Source: Schmidt et al., "Leader/Followers" (POSA 2); epoll(7).
 */
#ifndef AL_MCP_WORKERS_H
#define AL_MCP_WORKERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct al_calls;
struct al_inflight;
struct al_message_writer;
struct al_reader;
struct al_worker; /* one thread */

/**
 * Serve buffered messages up to the first call, and return that call.  NULL: nothing is left.
 * *ret_more says whether messages are left that can be served before the next read; without a call
 * it is false.  Only the leader calls this.
 */
typedef struct al_inflight *(*al_workers_serve_fn)(void *payload, bool *ret_more);

/** The input, output and calls of the threads.  All of it is borrowed. */
struct al_workers_options {
    struct al_reader *reader; /**< the leader's */
    struct al_message_writer *out;
    struct al_calls *calls;
    al_workers_serve_fn serve;
    void *payload; /**< of `serve` */
};

struct al_workers {
    struct al_workers_options options;
    int epoll_fd;
    int ready_fd;            /**< eventfd, always readable: armed when a leader need not wait */
    bool input_always_ready; /**< epoll cannot watch the input: it is a regular file, say */
    bool buffered;           /**< the leader's: messages that were read wait to be served */

    pthread_mutex_t lock;      /**< guards the members below */
    pthread_cond_t ended;      /**< signalled when `ending` is set */
    uint64_t term;             /**< of the leader, or of the promotion that no thread took yet */
    bool paused;               /**< no reading: too much output is queued */
    bool ending;               /**< no thread reads any more */
    size_t nfree;              /**< threads that run no call */
    struct al_worker *threads; /**< all that are not joined yet */
};

/** Start the first threads.  0 or AL_ERR_EXECUTION. */
int al_workers_start(struct al_workers *workers, const struct al_workers_options *options,
                     struct al_error *err);

/** Wait until the input has ended or the output is closed.  Calls may still run. */
void al_workers_wait(struct al_workers *workers);

/** Wait until every thread has ended, and so every call.  After al_workers_wait(). */
void al_workers_join(struct al_workers *workers);

#endif
