// SPDX-License-Identifier: Apache-2.0
/*
 * A thread with a small stack, and a mutex that is held to the end of a block, whichever way the
 * block is left.
 *
 *     static size_t count_of(struct box *box)
 *     {
 *         al_hold(&box->lock);
 *         return box->count;
 *     }
 */
#ifndef AL_BASE_LOCK_H
#define AL_BASE_LOCK_H

#include <pthread.h>

#include "base/mem.h"

/** The functions behind al_hold(). */
static inline pthread_mutex_t *al_lock_(pthread_mutex_t *mutex)
{
    (void)pthread_mutex_lock(mutex);
    return mutex;
}

/** Likewise. */
static inline void al_unlock_(pthread_mutex_t *const *held)
{
    (void)pthread_mutex_unlock(*held);
}

/** Lock a mutex now, and unlock it at the end of the block; once in a block. */
#define al_hold(mutex)                                                                             \
    al_auto(al_unlock_) __attribute__((unused)) pthread_mutex_t *const al_held = al_lock_(mutex)

/** Start a thread that has a stack of so many bytes.  0 or an errno. */
static inline int al_thread_start(pthread_t *ret_thread, size_t stack_bytes,
                                  void *(*run)(void *payload), void *payload)
{
    pthread_attr_t attr;
    int error;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, stack_bytes);
    error = pthread_create(ret_thread, &attr, run, payload);
    (void)pthread_attr_destroy(&attr);
    return error;
}

#endif
