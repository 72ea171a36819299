// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#define WORD_MAX_BYTES 64

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Two neighbouring letters that changed places are one edit. */
size_t al_edit_distance(const char *a, const char *b)
{
    size_t alen = strlen(a), blen = strlen(b);
    size_t at[WORD_MAX_BYTES + 1][WORD_MAX_BYTES + 1];

    if (alen > WORD_MAX_BYTES || blen > WORD_MAX_BYTES)
        return SIZE_MAX;
    for (size_t i = 0; i <= alen; i++)
        for (size_t j = 0; j <= blen; j++) {
            if (!i || !j) {
                at[i][j] = i + j;
                continue;
            }
            at[i][j] = least(least(at[i - 1][j], at[i][j - 1]) + 1,
                             at[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                at[i][j] = least(at[i][j], at[i - 2][j - 2] + 1);
        }
    return at[alen][blen];
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
