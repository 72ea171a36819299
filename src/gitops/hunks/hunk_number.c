// SPDX-License-Identifier: Apache-2.0
/* Number equal hunks, and find a hunk. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "gitops/hunks/hunk_list.h"

/* The place of a hunk in the index, which both sides have. */
static int64_t place_of(const struct al_hunk_list *list, const struct al_hunk_item *item)
{
    return list->side == AL_HUNKS_STAGED ? item->new_start : item->old_start;
}

/* Count the equal hunks of the other side before this one. */
static size_t count_other(const struct al_hunk_list *list, const struct al_hunk_item *item,
                          const struct al_hunk_list *other)
{
    size_t equal = 0;

    for (size_t i = 0; other && i < other->count; i++)
        equal += other->items[i].content == item->content &&
                 place_of(other, &other->items[i]) <= place_of(list, item);
    return equal;
}

static int compare(const void *one, const void *two)
{
    const struct al_hunk_item *const *a = one, *const *b = two;
    const int order = strcmp((*a)->id, (*b)->id);

    return order ? order : (*a < *b ? -1 : 1);
}

void al_hunk_list_number(struct al_hunk_list *list, const struct al_hunk_list *other)
{
    al_auto(al_freep) struct al_hunk_item **sorted = al_calloc(list->count, sizeof(*sorted));
    al_auto(al_freep) size_t *numbers = al_calloc(list->count, sizeof(*numbers));

    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->items[i];
    if (list->count)
        qsort(sorted, list->count, sizeof(struct al_hunk_item *), compare);
    for (size_t i = 0, equal = 0; i < list->count; i++) {
        equal = i && !strcmp(sorted[i]->id, sorted[i - 1]->id) ? equal + 1 : 0;
        numbers[i] = 1 + equal + count_other(list, sorted[i], other);
    }
    for (size_t i = 0; i < list->count; i++)
        if (numbers[i] > 1)
            snprintf(sorted[i]->id + AL_HUNK_ID_DIGITS, AL_HUNK_ID_TEXT - AL_HUNK_ID_DIGITS, "-%zu",
                     numbers[i]);
}

const struct al_hunk_item *al_hunk_find(const struct al_hunk_list *list, const char *id)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcasecmp(list->items[i].id, id))
            return &list->items[i];
    return NULL;
}
