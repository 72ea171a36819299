// SPDX-License-Identifier: Apache-2.0
#include "guard/root_use.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "guard/root.h"
#include "util/mem.h"

struct al_root_use {
    pthread_mutex_t lock;
    uint64_t epoch;
    size_t inside[2]; /* of the present epoch and of the last one, by the lowest bit */
};

struct al_root_use *al_root_use_new(void)
{
    struct al_root_use *use = al_calloc(1, sizeof(*use));

    (void)pthread_mutex_init(&use->lock, NULL);
    use->epoch = 1;
    return use;
}

void al_root_use_free(struct al_root_use *use)
{
    if (!use)
        return;
    (void)pthread_mutex_destroy(&use->lock);
    free(use);
}

/* Two epochs are enough for whatever was released.  Caller holds the lock. */
static void advance(struct al_root_use *use)
{
    for (int i = 0; i < 2 && !use->inside[(use->epoch + 1) & 1]; i++)
        use->epoch++;
}

uint64_t al_root_use_enter(struct al_root_use *use)
{
    uint64_t entered;

    (void)pthread_mutex_lock(&use->lock);
    advance(use);
    entered = use->epoch;
    use->inside[entered & 1]++;
    (void)pthread_mutex_unlock(&use->lock);
    return entered;
}

void al_root_use_leave(struct al_root_use *use, uint64_t entered)
{
    (void)pthread_mutex_lock(&use->lock);
    use->inside[entered & 1]--;
    (void)pthread_mutex_unlock(&use->lock);
}

uint64_t al_root_use_now(struct al_root_use *use)
{
    uint64_t now;

    (void)pthread_mutex_lock(&use->lock);
    now = use->epoch;
    (void)pthread_mutex_unlock(&use->lock);
    return now;
}

bool al_root_use_is_over(struct al_root_use *use, uint64_t released)
{
    bool is_over;

    (void)pthread_mutex_lock(&use->lock);
    advance(use);
    is_over = use->epoch >= released + 2;
    (void)pthread_mutex_unlock(&use->lock);
    return is_over;
}

uint64_t al_roots_enter(const struct al_roots *roots)
{
    return roots->use ? al_root_use_enter(roots->use) : 0;
}

void al_roots_leave(const struct al_roots *roots, uint64_t entered)
{
    if (roots->use)
        al_root_use_leave(roots->use, entered);
}
