// SPDX-License-Identifier: Apache-2.0
#include "staging/base_cache.h"

#include <stdio.h>
#include <stdlib.h>

struct al_base_cache {
    char key[33];
    struct al_file_id id;
    struct al_base base;
};

void al_base_cache_free(struct al_base_cache *cache)
{
    if (cache)
        al_base_clear(&cache->base);
    free(cache);
}

static void copy(const struct al_base *from, struct al_base *ret_base)
{
    *ret_base =
        (struct al_base){ .count = from->count, .capacity = from->count, .sorted = from->sorted };
    ret_base->items = al_calloc(from->count, sizeof(*ret_base->items));
    for (size_t i = 0; i < from->count; i++) {
        ret_base->items[i] = from->items[i];
        ret_base->items[i].path = al_strdup(from->items[i].path);
    }
    al_heads_copy(&from->heads, &ret_base->heads);
}

bool al_base_cache_get(struct al_staging *staging, const char *key, const struct al_file_id *id,
                       struct al_base *ret_base)
{
    const struct al_base_cache *cache;
    bool found;

    (void)pthread_mutex_lock(&staging->cache_mutex);
    cache = staging->cache;
    found = cache && !strcmp(cache->key, key) && al_file_id_equal(&cache->id, id);
    if (found)
        copy(&cache->base, ret_base);
    (void)pthread_mutex_unlock(&staging->cache_mutex);
    return found;
}

void al_base_cache_set(struct al_staging *staging, const char *key, const struct al_file_id *id,
                       const struct al_base *base)
{
    struct al_base_cache *fresh, *old;

    if (strcmp(key, staging->key) != 0)
        return; /* of another sandbox, or an origin: neither is asked for by every status */
    fresh = al_calloc(1, sizeof(*fresh));
    (void)snprintf(fresh->key, sizeof(fresh->key), "%s", key);
    fresh->id = *id;
    copy(base, &fresh->base);
    (void)pthread_mutex_lock(&staging->cache_mutex);
    old = staging->cache;
    staging->cache = fresh;
    (void)pthread_mutex_unlock(&staging->cache_mutex);
    al_base_cache_free(old);
}
