// SPDX-License-Identifier: Apache-2.0
/*
 * The threads of mcp/workers.h: when one is made, kept or ended.
 *
 *   free threads        what happens
 *   1                   it makes another before it runs a call
 *   FREE_MAX            a thread that has run its call ends instead of joining them
 */
#ifndef AL_MCP_POOL_H
#define AL_MCP_POOL_H

#include "mcp/workers.h"

struct al_worker {
    struct al_worker *next;
    struct al_workers *workers;
    pthread_t thread;
    bool exited; /**< under the lock of `workers`: it left the pool and is to be joined */
};

/** The main function of a thread, given its struct al_worker; mcp/workers.c. */
void *al_worker_main(void *payload);

/** Make one more thread, which begins as a follower.  `nfree` is the caller's to count.  0 or an
 * errno. */
int al_pool_add(struct al_workers *workers);

/** Join the threads that left the pool, or with `all` every thread, even one that is made
 * meanwhile. */
void al_pool_join(struct al_workers *workers, bool all);

/** Take the calling thread out of the free ones before it runs a call.  False when no other thread
 * is free to read and none could be made; the caller is still free then. */
bool al_pool_hand_over_reading(struct al_workers *workers);

/** Undo al_pool_hand_over_reading(): the caller runs no call. */
void al_pool_mark_free(struct al_workers *workers);

/** The thread has run its calls.  Whether it is free again; if not, it left the pool and ends. */
bool al_pool_rejoin(struct al_worker *worker);

#endif
