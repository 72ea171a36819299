// SPDX-License-Identifier: Apache-2.0
/*
 * A mutex that is held to the end of a block, whichever way the block is left.
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

#endif
