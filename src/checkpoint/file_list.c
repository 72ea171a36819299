// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/file_list.h"

#include <stdlib.h>

#include "util/mem.h"

void al_file_list_clear(struct al_file_list *names)
{
    al_str_clear(&names->text);
    free(names->items);
    *names = AL_FILE_LIST_INIT;
}

const char *al_file_list_path(const struct al_file_list *names, const struct al_name *name)
{
    return names->text.buf + name->at;
}

struct al_name *al_file_list_add(struct al_file_list *names, const char *path, size_t len)
{
    struct al_name *name;

    if (names->count == names->capacity) {
        names->capacity = names->capacity ? 2 * names->capacity : 256;
        names->items = al_reallocarray(names->items, names->capacity, sizeof(*names->items));
    }
    name = &names->items[names->count++];
    *name = (struct al_name){ .at = names->text.len };
    al_str_add(&names->text, path, len);
    al_str_addc(&names->text, '\0');
    return name;
}

static int compare_names(const void *a, const void *b, void *names)
{
    return strcmp(al_file_list_path(names, a), al_file_list_path(names, b));
}

void al_file_list_sort(struct al_file_list *names)
{
    for (size_t i = 1; i < names->count; i++) {
        if (compare_names(&names->items[i - 1], &names->items[i], names) > 0) {
            qsort_r(names->items, names->count, sizeof(*names->items), compare_names, names);
            return;
        }
    }
}
