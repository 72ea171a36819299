// SPDX-License-Identifier: Apache-2.0
/* Listing the checkpoints of a store. */
#include <stdlib.h>

#include "gitops/plumbing/bare.h"
#include "history/store.h"

void al_checkpoint_list_clear(struct al_checkpoint_list *list)
{
    free(list->items);
    *list = (struct al_checkpoint_list){ .items = NULL };
}

static bool add_bytes(void *payload, const char *data, size_t len)
{
    al_str_add(payload, data, len);
    return true;
}

/* Add a line "<oid> SP <name> SP <nanoseconds> SP <nonce>". */
static void add_line(const struct al_store *store, const char *line,
                     struct al_checkpoint_list *list)
{
    size_t digits = 2 * al_oid_bytes(store->sha256);
    const char *name = strchr(line, ' '), *time = name ? strchr(name + 1, ' ') : NULL;
    struct al_checkpoint checkpoint = { .taken_ns = time ? strtoll(time + 1, NULL, 10) : 0 };

    if (!time || (size_t)(name - line) != digits)
        return;
    memcpy(checkpoint.id, line, digits);
    name++;
    if (al_starts_with(name, AL_REF_AFTER) &&
        (size_t)(time - name) == strlen(AL_REF_AFTER) + digits)
        memcpy(checkpoint.before, name + strlen(AL_REF_AFTER), digits);
    else if (!al_starts_with(name, AL_REF_BEFORE))
        return;
    list->items = al_reallocarray(list->items, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = checkpoint;
}

/* Order by time.  Checkpoints with the same time are ordered by execution, before and after. */
static int compare(const void *a, const void *b)
{
    const struct al_checkpoint *one = a, *two = b;
    const char *first = one->before[0] ? one->before : one->id;
    const char *second = two->before[0] ? two->before : two->id;
    int order;

    if (one->taken_ns != two->taken_ns)
        return one->taken_ns < two->taken_ns ? -1 : 1;
    order = strcmp(first, second);
    return order ? order : (one->before[0] != '\0') - (two->before[0] != '\0');
}

int al_checkpoint_list(struct al_store *store, struct al_run_limits *budget,
                       struct al_checkpoint_list *ret_list, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;
    int r = al_bare_refs(&store->bare, (struct al_sink){ add_bytes, &text }, budget, err);

    if (r < 0)
        return r;
    *ret_list = (struct al_checkpoint_list){ .items = NULL };
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        add_line(store, line, ret_list);
    if (ret_list->count)
        qsort(ret_list->items, ret_list->count, sizeof(*ret_list->items), compare);
    return 0;
}
