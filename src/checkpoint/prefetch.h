// SPDX-License-Identifier: Apache-2.0
/*
 * Looking at files ahead: what was seen the last time is looked at again by a thread of its own,
 * while git lists the names.
 *
 * Both take about as long, and on a large working tree they are most of what a checkpoint costs
 * when nothing changed.
 */
#ifndef AL_CHECKPOINT_PREFETCH_H
#define AL_CHECKPOINT_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>

#include "checkpoint/stat_cache.h"

struct al_prefetch;

/**
 * Begin to look at the files of `seen`, which stays as it is until the end.
 *
 * @param top_fd  The top of the working tree; borrowed.
 * @return NULL where it is not worth a thread.
 */
struct al_prefetch *al_prefetch_begin(const struct al_stat_cache *cache, int top_fd);

/** Wait for the end of it; NULL is fine. */
void al_prefetch_wait(struct al_prefetch *prefetch);

/** Whether the file that was seen as number `i` looked the same.  After al_prefetch_wait(). */
bool al_prefetch_is_current(const struct al_prefetch *prefetch, size_t i);

/** Wait and release; NULL is fine. */
void al_prefetch_free(struct al_prefetch *prefetch);

#endif
