// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/delta.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

#define COPY_DEFAULT 0x10000u /* bytes, where the delta says 0 */

/** What was not read yet. */
struct cursor {
    const unsigned char *at, *end;
};

/* A size, seven bits a byte, the lowest first. */
static bool take_size(struct cursor *cursor, size_t *ret_size)
{
    unsigned shift = 0;

    *ret_size = 0;
    while (cursor->at < cursor->end && shift < 35) {
        unsigned byte = *cursor->at++;

        *ret_size |= (size_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* The bytes of a number of which `mask` says which are there. */
static bool take_bytes(struct cursor *cursor, unsigned mask, size_t *ret_value)
{
    *ret_value = 0;
    for (unsigned i = 0; mask; i++, mask >>= 1) {
        if (!(mask & 1))
            continue;
        if (cursor->at == cursor->end)
            return false;
        *ret_value |= (size_t)*cursor->at++ << (8 * i);
    }
    return true;
}

/* Find the bytes that the next instruction appends; NULL when it is none. */
static const unsigned char *take_piece(struct cursor *cursor, const unsigned char *base,
                                       size_t base_len, size_t *ret_len)
{
    unsigned op = *cursor->at++;
    size_t offset;

    if (op & 0x80) {
        if (!take_bytes(cursor, op & 15, &offset) || !take_bytes(cursor, op >> 4 & 7, ret_len))
            return NULL;
        if (!*ret_len)
            *ret_len = COPY_DEFAULT;
        return offset <= base_len && *ret_len <= base_len - offset ? base + offset : NULL;
    }
    *ret_len = op;
    if (!op || op > (size_t)(cursor->end - cursor->at))
        return NULL;
    cursor->at += op;
    return cursor->at - op;
}

bool al_delta_apply(const struct al_delta *delta, const unsigned char *base, size_t base_len,
                    size_t max_bytes, unsigned char **ret_made, size_t *ret_len)
{
    struct cursor cursor = { .at = delta->data, .end = delta->data + delta->len };
    al_auto(al_freep) unsigned char *made = NULL;
    size_t from, size, len = 0;

    if (!take_size(&cursor, &from) || !take_size(&cursor, &size) || from != base_len ||
        size > max_bytes)
        return false;
    made = al_malloc(size + 1);
    while (cursor.at < cursor.end) {
        size_t piece_len;
        const unsigned char *piece = take_piece(&cursor, base, base_len, &piece_len);

        if (!piece || piece_len > size - len)
            return false;
        memcpy(made + len, piece, piece_len);
        len += piece_len;
    }
    if (len != size)
        return false;
    made[len] = '\0';
    *ret_made = al_take(&made);
    *ret_len = len;
    return true;
}
