// SPDX-License-Identifier: Apache-2.0
#include "base/sorted.h"

#include <stdint.h>
#include <string.h>

static const char *text_of(const void *items, size_t item_bytes, size_t which)
{
    return *(const char *const *)((const char *)items + which * item_bytes);
}

size_t al_sorted_lower_bound(const void *items, size_t count, size_t item_bytes, const char *text)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(text_of(items, item_bytes, middle), text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t al_sorted_find(const void *items, size_t count, size_t item_bytes, const char *text)
{
    const size_t at = al_sorted_lower_bound(items, count, item_bytes, text);

    return at < count && !strcmp(text_of(items, item_bytes, at), text) ? at : SIZE_MAX;
}
