// SPDX-License-Identifier: Apache-2.0
#include "odb/write_behind.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/fs.h"

struct al_write_behind {
    int fd;
    struct al_hash *sum;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Protected by the lock: */
    const void *data; /* to be written; NULL: nothing */
    size_t len;
    int status; /* 0 or -errno */
    bool ends;
};

static void *write_all(void *payload)
{
    struct al_write_behind *behind = payload;

    (void)pthread_mutex_lock(&behind->lock);
    for (;;) {
        int r;

        while (!behind->data && !behind->ends)
            (void)pthread_cond_wait(&behind->changed, &behind->lock);
        if (!behind->data)
            break;
        (void)pthread_mutex_unlock(&behind->lock);
        r = al_write_all(behind->fd, behind->data, behind->len);
        al_hash_add(behind->sum, behind->data, behind->len);
        (void)pthread_mutex_lock(&behind->lock);
        behind->status = r;
        behind->data = NULL;
        (void)pthread_cond_broadcast(&behind->changed);
    }
    (void)pthread_mutex_unlock(&behind->lock);
    return NULL;
}

struct al_write_behind *al_write_behind_begin(int fd, struct al_hash *sum)
{
    struct al_write_behind *behind = al_calloc(1, sizeof(*behind));

    behind->fd = fd;
    behind->sum = sum;
    (void)pthread_mutex_init(&behind->lock, NULL);
    (void)pthread_cond_init(&behind->changed, NULL);
    /* The thread inherits its creator's seccomp filter, if any.  It writes and hashes only. */
    if (pthread_create(&behind->thread, NULL, write_all, behind) == 0)
        return behind;
    (void)pthread_cond_destroy(&behind->changed);
    (void)pthread_mutex_destroy(&behind->lock);
    free(behind);
    return NULL;
}

/* With the lock held. */
static int wait_locked(struct al_write_behind *behind)
{
    while (behind->data)
        (void)pthread_cond_wait(&behind->changed, &behind->lock);
    return behind->status;
}

int al_write_behind_put(struct al_write_behind *behind, const void *data, size_t len)
{
    int r;

    (void)pthread_mutex_lock(&behind->lock);
    r = wait_locked(behind);
    if (r == 0 && len) {
        behind->data = data;
        behind->len = len;
        (void)pthread_cond_broadcast(&behind->changed);
    }
    (void)pthread_mutex_unlock(&behind->lock);
    return r;
}

int al_write_behind_wait(struct al_write_behind *behind)
{
    int r;

    (void)pthread_mutex_lock(&behind->lock);
    r = wait_locked(behind);
    (void)pthread_mutex_unlock(&behind->lock);
    return r;
}

void al_write_behind_end(struct al_write_behind *behind)
{
    if (!behind)
        return;
    (void)pthread_mutex_lock(&behind->lock);
    (void)wait_locked(behind);
    behind->ends = true;
    (void)pthread_cond_broadcast(&behind->changed);
    (void)pthread_mutex_unlock(&behind->lock);
    (void)pthread_join(behind->thread, NULL);
    (void)pthread_cond_destroy(&behind->changed);
    (void)pthread_mutex_destroy(&behind->lock);
    free(behind);
}
