// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/oids.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

void al_oids_clear(struct al_oids *oids)
{
    free(oids->items);
    *oids = (struct al_oids){ .items = NULL };
}

void al_oids_add(struct al_oids *oids, const struct al_oid *oid)
{
    if (oids->count == oids->capacity) {
        oids->capacity = oids->capacity ? 2 * oids->capacity : 64;
        oids->items = al_reallocarray(oids->items, oids->capacity, sizeof(*oids->items));
    }
    oids->items[oids->count++] = *oid;
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct al_oid));
}

void al_oids_sort(struct al_oids *oids)
{
    size_t kept = 0;

    if (!oids->count)
        return;
    qsort(oids->items, oids->count, sizeof(*oids->items), by_bytes);
    for (size_t i = 0; i < oids->count; i++)
        if (!kept || !al_oid_equal(&oids->items[kept - 1], &oids->items[i]))
            oids->items[kept++] = oids->items[i];
    oids->count = kept;
}
