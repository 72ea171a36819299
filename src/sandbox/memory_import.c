// SPDX-License-Identifier: Apache-2.0
/* Importing into memory: the new list is made beside the old one, and replaces it when nothing is
 * wrong. */
#include <stdlib.h>

#include "sandbox/memory_list.h"

/* Importing: the new list is made beside the old one, and replaces it when nothing is wrong. */

/** The list that is being made. */
struct import {
    struct al_memory_list merged;
    struct al_memory_file **added, **replaced; /* the imported entries; entries of the old list */
    size_t nadded, nreplaced;
};

static int compare(const void *a, const void *b)
{
    return strcmp((*(struct al_memory_file *const *)a)->path,
                  (*(struct al_memory_file *const *)b)->path);
}

static void add_entries(struct import *import, const struct al_sandbox_file *files, size_t count)
{
    import->added = al_calloc(count, sizeof(struct al_memory_file *));
    for (; import->nadded < count; import->nadded++) {
        const struct al_sandbox_file *file = &files[import->nadded];
        struct al_memory_file *entry = al_calloc(1, sizeof(*entry));

        *entry = (struct al_memory_file){
            .path = al_strdup(file->path), .mode = file->mode, .oid = file->oid, .has_oid = true
        };
        import->added[import->nadded] = entry;
    }
}

/* --- Content that the store may not keep --- */

/** The content that is read. */
struct kept {
    struct al_memory_file **entries; /* one for each object */
    struct al_str content;           /* of the object that comes */
};

static int take_kept(void *payload, size_t which, const char *data, size_t len, bool last,
                     struct al_error *err)
{
    struct kept *kept = payload;
    struct al_memory_file *entry = kept->entries[which];

    (void)err;
    al_str_add(&kept->content, data, len);
    if (!last)
        return 0;
    entry->data = al_malloc(kept->content.len);
    if (kept->content.len)
        memcpy(entry->data, kept->content.buf, kept->content.len);
    entry->size = kept->content.len;
    entry->has_size = true;
    al_str_reset(&kept->content);
    return 0;
}

/* The entries are still in the order of the files. */
static int read_kept(const struct import *import, bool sha256, const struct al_sandbox_file *files,
                     const struct al_blob_source *source, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    struct kept kept = { .content = AL_STR_INIT };
    int r = 0;

    kept.entries = al_calloc(import->nadded, sizeof(struct al_memory_file *));
    for (size_t i = 0; i < import->nadded; i++) {
        char text[AL_OID_TEXT];

        if (!files[i].keeps_content)
            continue;
        al_oid_text(&files[i].oid, sha256, text);
        kept.entries[oids.count] = import->added[i];
        al_strv_add(&oids, text);
    }
    if (oids.count)
        r = source->read(source->payload, (const char *const *)oids.items, oids.count, take_kept,
                         &kept, err);
    free(kept.entries);
    al_str_clear(&kept.content);
    return r;
}

/* --- The new list --- */

static void free_added(struct import *import)
{
    for (size_t i = 0; i < import->nadded; i++)
        al_memory_file_free(import->added[i]);
    free(import->added);
}

/* Merge two sorted lists; of two entries of one name the imported one counts. */
static void merge(struct import *import, const struct al_memory_list *old)
{
    struct al_memory_list *merged = &import->merged;
    size_t i = 0, j = 0;

    merged->capacity = old->count + import->nadded;
    merged->items = al_calloc(merged->capacity, sizeof(struct al_memory_file *));
    import->replaced = al_calloc(import->nadded, sizeof(struct al_memory_file *));
    while (i < old->count || j < import->nadded) {
        int order = i == old->count       ? 1
                    : j == import->nadded ? -1
                                          : compare(&old->items[i], &import->added[j]);

        if (order == 0)
            import->replaced[import->nreplaced++] = old->items[i++];
        else
            merged->items[merged->count++] = order < 0 ? old->items[i++] : import->added[j++];
    }
    for (size_t k = 0; k < merged->count; k++)
        merged->used += al_memory_file_cost(merged->items[k]);
}

/* Files that are new, or that replace a known version, which has to be there still. */
static int check_versions(const struct al_sandbox *sandbox, const struct al_sandbox_file *files,
                          size_t count, struct al_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct al_sandbox_version *over = files[i].over;
        const struct al_memory_file *file = al_memory_list_find(sandbox->state, files[i].path);

        if ((files[i].is_new && file) ||
            (over && !(file && al_memory_file_is(file, over, sandbox->sha256))))
            return al_sandbox_changed(files[i].path, err);
    }
    return 0;
}

static int check_import(const struct al_sandbox *sandbox, const struct import *import,
                        struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < import->nadded && r == 0; i++) {
        const char *path = import->added[i]->path;

        if (i && !strcmp(import->added[i - 1]->path, path))
            r = al_sandbox_fail(err, AL_ERR_EXECUTION, path, "", " is in the list twice");
        else
            r = al_memory_list_check_place(&import->merged, path, err);
    }
    return r < 0
               ? r
               : al_memory_list_check_room(sandbox, import->merged.used, import->merged.count, err);
}

int al_memory_import(struct al_sandbox *sandbox, const struct al_sandbox_file *files, size_t count,
                     const struct al_blob_source *source, struct al_error *err)
{
    struct al_memory_list *memory = sandbox->state;
    struct import import = { .nadded = 0 };
    int r;

    add_entries(&import, files, count);
    r = read_kept(&import, sandbox->sha256, files, source, err);
    if (r < 0) {
        free_added(&import);
        return r;
    }
    qsort(import.added, count, sizeof(struct al_memory_file *), compare);
    (void)pthread_mutex_lock(&sandbox->lock);
    merge(&import, memory);
    r = check_versions(sandbox, files, count, err);
    if (r == 0)
        r = check_import(sandbox, &import, err);
    if (r == 0) {
        struct al_memory_list old = *memory;

        *memory = import.merged;
        import.merged = old;
    }
    (void)pthread_mutex_unlock(&sandbox->lock);
    for (size_t i = 0; r == 0 && i < import.nreplaced; i++)
        al_memory_file_free(import.replaced[i]);
    free(import.merged.items);
    if (r < 0)
        free_added(&import);
    else
        free(import.added);
    free(import.replaced);
    return r;
}
