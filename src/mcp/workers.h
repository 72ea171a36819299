// SPDX-License-Identifier: Apache-2.0
/*
 * The threads that serve: one has the turn to read, the others wait for it or run a call.
 *
 * Who comes upon a call passes the turn on and runs the call itself, so that no thread has to be
 * woken between the arrival of a call and its work, and what comes behind it does not wait for it.
 * The turn is offered through epoll: when there is input the kernel wakes one of those that wait,
 * the one that came last, whose memory is warm.
 *
 * A call that was put aside (mcp/backlog.c) is run by the thread that has just run another, or when
 * that waits for a person, by one that is free.
 *
 * At least one thread is always free to read.  The last one makes another before it takes up a
 * call, and where none can be made that call is refused.
 */
#ifndef AL_MCP_WORKERS_H
#define AL_MCP_WORKERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct al_calls;
struct al_worker; /* one thread */
struct al_message_writer;
struct al_reader;
struct al_inflight;

/**
 * Serve what was read until one message is a call, which is given back, or nothing is left.
 * *ret_more is whether something is left that can be served before the next read; without a call
 * there never is.  One thread at a time is in here.
 */
typedef struct al_inflight *(*al_workers_serve_fn)(void *payload, bool *ret_more);

/** What a crew works on; all of it is borrowed, and `reader` belongs to whose turn it is. */
struct al_workers_options {
    struct al_reader *reader;
    struct al_message_writer *out;
    struct al_calls *calls;
    al_workers_serve_fn serve;
    void *payload;
};

struct al_workers {
    struct al_workers_options options;
    int epoll_fd;
    int ready_fd; /**< eventfd, always readable: a turn for which nothing has to arrive */
    bool input_always_ready; /**< the input is nothing one could wait for, such as a file */
    bool buffered;           /**< of whose turn it is: there is something to serve before reading */

    pthread_mutex_t lock;
    pthread_cond_t ended;
    uint64_t term; /**< the turn that is offered, or was taken; events of others are stale */
    bool paused;   /**< it is offered for the end of input only: too much output waits */
    bool ending;
    size_t nfree; /**< members that run no call */
    struct al_worker *list;
};

/** Start the first threads.  0 or AL_ERR_EXECUTION. */
int al_workers_start(struct al_workers *workers, const struct al_workers_options *options,
                     struct al_error *err);

/** Wait until the input has ended or nobody reads the output any more.  Calls may still run. */
void al_workers_wait(struct al_workers *workers);

/** Wait until every thread is gone, which is when the last call has ended.  After
 * al_workers_wait().
 */
void al_workers_join(struct al_workers *workers);

#endif
