// SPDX-License-Identifier: Apache-2.0
#include "sandbox/memory_list.h"

#include <stdlib.h>

void al_memory_file_free(struct al_memory_file *file)
{
    if (!file)
        return;
    free(file->path);
    free(file->data);
    free(file);
}

bool al_memory_file_is(const struct al_memory_file *file, const struct al_sandbox_version *version,
                       bool sha256)
{
    struct al_oid oid = file->oid;

    if (!file->has_oid)
        al_oid_of(sha256, AL_OBJECT_BLOB, file->data, (size_t)file->size, &oid);
    return file->mode == version->mode && al_oid_equal(&oid, &version->oid);
}

uint64_t al_memory_file_cost(const struct al_memory_file *file)
{
    return AL_SANDBOX_FILE_BYTES + strlen(file->path) + (file->data ? file->size : 0);
}

size_t al_memory_list_lower_bound(const struct al_memory_list *list, const char *path)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(list->items[middle]->path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct al_memory_file *al_memory_list_find(const struct al_memory_list *list, const char *path)
{
    size_t at = al_memory_list_lower_bound(list, path);

    return at < list->count && !strcmp(list->items[at]->path, path) ? list->items[at] : NULL;
}

bool al_memory_list_has_directory(const struct al_memory_list *list, const char *path)
{
    al_auto(al_freep) char *prefix = al_asprintf("%s/", path);
    size_t at = al_memory_list_lower_bound(list, prefix);

    return at < list->count && al_starts_with(list->items[at]->path, prefix);
}

/* The file above a path; NULL: there is none. */
static const struct al_memory_file *file_above(const struct al_memory_list *list, const char *path)
{
    al_auto(al_freep) char *above = al_strdup(path);
    char *slash;

    while ((slash = strrchr(above, '/'))) {
        const struct al_memory_file *file;

        *slash = '\0';
        file = al_memory_list_find(list, above);
        if (file)
            return file;
    }
    return NULL;
}

int al_memory_list_check_place(const struct al_memory_list *list, const char *path,
                               struct al_error *err)
{
    const struct al_memory_file *above = file_above(list, path);

    if (above)
        return al_sandbox_is_below_file(path, above->path, err);
    return al_memory_list_has_directory(list, path) ? al_sandbox_is_directory(path, err) : 0;
}

int al_memory_list_check_room(const struct al_sandbox *sandbox, uint64_t used, size_t count,
                              struct al_error *err)
{
    if (count > AL_SANDBOX_FILES_MAX)
        return al_sandbox_too_many(err);
    return used <= sandbox->max_bytes ? 0 : al_sandbox_full(sandbox, used, err);
}

void al_memory_list_insert(struct al_memory_list *list, struct al_memory_file *file)
{
    size_t at = al_memory_list_lower_bound(list, file->path);

    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->items = al_reallocarray(list->items, list->capacity, sizeof(struct al_memory_file *));
    }
    memmove(&list->items[at + 1], &list->items[at],
            (list->count - at) * sizeof(struct al_memory_file *));
    list->items[at] = file;
    list->count++;
}
