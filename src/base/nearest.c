// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#define WORD_MAX_BYTES 64

static size_t least(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

size_t al_edit_distance(const char *a, const char *b)
{
    size_t alen = strlen(a), blen = strlen(b);
    size_t row[WORD_MAX_BYTES + 1];

    if (alen > WORD_MAX_BYTES || blen > WORD_MAX_BYTES)
        return SIZE_MAX;
    for (size_t j = 0; j <= blen; j++)
        row[j] = j;
    for (size_t i = 1; i <= alen; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= blen; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, replaced);
        }
    }
    return row[blen];
}

void al_nearest_offer(struct al_nearest *nearest, const char *candidate)
{
    size_t edits = al_edit_distance(nearest->word, candidate);

    if (edits > AL_NEAREST_MAX_EDITS || edits * 2 > strlen(nearest->word) ||
        (nearest->found && edits >= nearest->edits))
        return;
    nearest->found = candidate;
    nearest->edits = edits;
}
