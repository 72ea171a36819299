// SPDX-License-Identifier: Apache-2.0
#include "mcp/pool.h"

#include <stdlib.h>

#include "proc/proc.h"

/*
 * A call's own code is shallow, and its buffers are on the heap.  The deepest use is a message
 * nested as deeply as the parser allows: copying and freeing it takes 230 KiB.  The thread
 * sanitizer keeps 800 KiB of its own on this stack.
 */
#define STACK_BYTES ((size_t)1536 * 1024)

#define FREE_MAX    8

/* A thread that is being made. */
struct creation {
    struct al_worker *worker;
    int error; /* 0 or an errno */
};

void al_pool_join(struct al_workers *workers, bool all)
{
    struct al_worker *worker;

    do {
        struct al_worker **at = &workers->threads;

        (void)pthread_mutex_lock(&workers->lock);
        while (*at && !all && !(*at)->exited)
            at = &(*at)->next;
        worker = *at;
        if (worker)
            *at = worker->next;
        (void)pthread_mutex_unlock(&workers->lock);
        if (worker)
            (void)pthread_join(worker->thread, NULL);
        free(worker);
    } while (worker);
}

/* Runs on an unfiltered thread, because a new thread inherits the filter of the one that makes it:
 * see al_proc_confine_thread(). */
static void create_thread(void *payload)
{
    struct creation *creation = payload;
    pthread_attr_t attr;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    creation->error =
        pthread_create(&creation->worker->thread, &attr, al_worker_main, creation->worker);
    (void)pthread_attr_destroy(&attr);
}

int al_pool_add(struct al_workers *workers)
{
    struct al_worker *worker = al_calloc(1, sizeof(*worker));
    struct creation creation = { .worker = worker };

    worker->workers = workers;
    /* Not under the lock: an unfiltered thread makes the new one, and every leader that steps down
     * would wait for both.  If the new thread ends before it is listed, it is joined later. */
    al_proc_run_unfiltered(create_thread, &creation);
    if (creation.error) {
        free(worker);
        return creation.error;
    }
    (void)pthread_mutex_lock(&workers->lock);
    worker->next = workers->threads;
    workers->threads = worker;
    (void)pthread_mutex_unlock(&workers->lock);
    return 0;
}

bool al_pool_hand_over_reading(struct al_workers *workers)
{
    bool others;

    (void)pthread_mutex_lock(&workers->lock);
    others = workers->nfree > 1;
    if (others)
        workers->nfree--;
    (void)pthread_mutex_unlock(&workers->lock);
    if (others)
        return true;
    al_pool_join(workers, false);
    return al_pool_add(workers) == 0; /* the new thread is free instead of the caller */
}

void al_pool_mark_free(struct al_workers *workers)
{
    (void)pthread_mutex_lock(&workers->lock);
    workers->nfree++;
    (void)pthread_mutex_unlock(&workers->lock);
}

bool al_pool_rejoin(struct al_worker *worker)
{
    struct al_workers *workers = worker->workers;
    bool stays;

    al_pool_join(workers, false); /* no thread may ever be made again, which would join them too */
    (void)pthread_mutex_lock(&workers->lock);
    stays = !workers->ending && workers->nfree < FREE_MAX;
    if (stays)
        workers->nfree++;
    worker->exited = !stays;
    (void)pthread_mutex_unlock(&workers->lock);
    return stays;
}
