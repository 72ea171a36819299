// SPDX-License-Identifier: Apache-2.0
#include "history/sync_later.h"

#include <pthread.h>
#include <stdlib.h>

#include "util/log.h"

#define STACK_BYTES ((size_t)128 * 1024)

struct al_sync_later {
    struct al_chain *chain;
    struct al_open_records *open;
    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, stop;
    struct al_open_record *records;
    size_t count, capacity;
};

struct al_sync_later *al_sync_later_new(struct al_chain *chain, struct al_open_records *open)
{
    struct al_sync_later *later = al_calloc(1, sizeof(*later));

    later->chain = chain;
    later->open = open;
    (void)pthread_mutex_init(&later->lock, NULL);
    (void)pthread_cond_init(&later->changed, NULL);
    return later;
}

static void sync_all(struct al_sync_later *later, const struct al_open_record *records,
                     size_t count)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r = al_chain_sync(later->chain, &err);

    if (r < 0)
        al_log_warn("the journal cannot be written: %s", err.message);
    for (size_t i = 0; i < count; i++)
        if (r == 0)
            al_open_records_end(later->open, &records[i]);
        else
            al_open_records_abandon(later->open, &records[i]);
}

static void *thread_main(void *payload)
{
    struct al_sync_later *later = payload;

    (void)pthread_mutex_lock(&later->lock);
    while (later->count || !later->stop) {
        struct al_open_record *records = later->records;
        size_t count = later->count;

        if (!count) {
            (void)pthread_cond_wait(&later->changed, &later->lock);
            continue;
        }
        later->records = NULL;
        later->count = later->capacity = 0;
        (void)pthread_mutex_unlock(&later->lock);
        sync_all(later, records, count);
        free(records);
        (void)pthread_mutex_lock(&later->lock);
    }
    (void)pthread_mutex_unlock(&later->lock);
    return NULL;
}

/* The thread inherits its creator's seccomp filter, if any.  It only writes to files that are open.
 */
static bool start(struct al_sync_later *later)
{
    pthread_attr_t attr;

    if (later->has_thread)
        return true;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    later->has_thread = pthread_create(&later->thread, &attr, thread_main, later) == 0;
    (void)pthread_attr_destroy(&attr);
    return later->has_thread;
}

bool al_sync_later_add(struct al_sync_later *later, const struct al_open_record *record)
{
    bool added;

    if (!later)
        return false;
    (void)pthread_mutex_lock(&later->lock);
    added = start(later);
    if (added) {
        al_open_records_written(later->open, record);
        if (later->count == later->capacity) {
            later->capacity = later->capacity ? 2 * later->capacity : 8;
            later->records =
                al_reallocarray(later->records, later->capacity, sizeof(*later->records));
        }
        later->records[later->count++] = *record;
        (void)pthread_cond_signal(&later->changed);
    }
    (void)pthread_mutex_unlock(&later->lock);
    return added;
}

void al_sync_later_free(struct al_sync_later *later)
{
    if (!later)
        return;
    (void)pthread_mutex_lock(&later->lock);
    later->stop = true;
    (void)pthread_cond_signal(&later->changed);
    (void)pthread_mutex_unlock(&later->lock);
    if (later->has_thread)
        (void)pthread_join(later->thread, NULL);
    (void)pthread_cond_destroy(&later->changed);
    (void)pthread_mutex_destroy(&later->lock);
    free(later->records);
    free(later);
}
