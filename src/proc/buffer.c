// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "proc/proc.h"
#include "util/mem.h"

#define FIRST_BYTES 4096u

/* The capacity for `len` bytes and a NUL: a power of two, so that reallocations are rare. */
static size_t capacity_for(size_t len)
{
    size_t capacity = FIRST_BYTES;

    while (capacity < len + 1)
        capacity *= 2;
    return capacity;
}

static bool add(void *payload, const char *data, size_t len)
{
    struct al_buffer *buffer = payload;
    size_t room = buffer->max_bytes - buffer->len;
    size_t kept = len < room ? len : room;
    size_t needed = capacity_for(buffer->len + kept);

    if (!buffer->data || needed > capacity_for(buffer->len))
        buffer->data = al_reallocarray(buffer->data, needed, 1);
    memcpy(buffer->data + buffer->len, data, kept);
    buffer->len += kept;
    buffer->data[buffer->len] = '\0';
    buffer->total += len;
    return kept == len;
}

struct al_sink al_buffer_sink(struct al_buffer *buffer)
{
    return (struct al_sink){ .add = add, .payload = buffer };
}

void al_buffer_clear(struct al_buffer *buffer)
{
    free(buffer->data);
    buffer->data = NULL;
    buffer->len = 0;
    buffer->total = 0;
}
