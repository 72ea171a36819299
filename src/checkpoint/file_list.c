// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/file_list.h"

#include <stdlib.h>

#include "util/mem.h"

void al_file_list_clear(struct al_file_list *list)
{
    al_str_clear(&list->text);
    free(list->items);
    *list = AL_FILE_LIST_INIT;
}

const char *al_file_list_path(const struct al_file_list *list, const struct al_file_name *name)
{
    return list->text.buf + name->offset;
}

struct al_file_name *al_file_list_add(struct al_file_list *list, const char *path, size_t len)
{
    struct al_file_name *name;

    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 256;
        list->items = al_reallocarray(list->items, list->capacity, sizeof(*list->items));
    }
    name = &list->items[list->count++];
    *name = (struct al_file_name){ .offset = list->text.len };
    al_str_add(&list->text, path, len);
    al_str_addc(&list->text, '\0');
    return name;
}

static int compare_names(const void *a, const void *b, void *list)
{
    return strcmp(al_file_list_path(list, a), al_file_list_path(list, b));
}

void al_file_list_sort(struct al_file_list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        if (compare_names(&list->items[i - 1], &list->items[i], list) > 0) {
            qsort_r(list->items, list->count, sizeof(*list->items), compare_names, list);
            return;
        }
    }
}
