// SPDX-License-Identifier: Apache-2.0
#include "staging/base.h"

#include <stdlib.h>

#include "gitops/nul_records.h"
#include "odb/tree.h"
#include "staging/base_cache.h"
#include "staging/store.h"

void al_base_clear(struct al_base *base)
{
    for (size_t i = 0; i < base->count; i++)
        free(base->items[i].path);
    free(base->items);
    al_heads_clear(&base->heads);
    *base = (struct al_base){ .items = NULL };
}

/* --- Changing and finding --- */

void al_base_set(struct al_base *base, const char *path, unsigned mode, const struct al_oid *oid)
{
    if (base->count == base->capacity) {
        base->capacity = base->capacity ? 2 * base->capacity : 64;
        base->items = al_reallocarray(base->items, base->capacity, sizeof(*base->items));
    }
    base->items[base->count] = (struct al_base_file){
        .path = al_strdup(path), .mode = mode, .order = base->count, .oid = *oid
    };
    base->count++;
}

void al_base_remove(struct al_base *base, const char *path)
{
    const struct al_oid none = { { 0 } };

    al_base_set(base, path, 0, &none);
}

static int by_path(const void *a, const void *b)
{
    const struct al_base_file *x = a, *y = b;
    int order = strcmp(x->path, y->path);

    return order ? order : (x->order > y->order) - (x->order < y->order);
}

void al_base_sort(struct al_base *base)
{
    size_t kept = 0;

    if (base->sorted == base->count)
        return;
    qsort(base->items, base->count, sizeof(*base->items), by_path);
    for (size_t i = 0; i < base->count; i++) {
        struct al_base_file *file = &base->items[i];
        bool is_last = i + 1 == base->count || strcmp(file->path, base->items[i + 1].path) != 0;

        if (!is_last || !file->mode) {
            free(file->path);
            continue;
        }
        base->items[kept] = *file;
        base->items[kept].order = kept;
        kept++;
    }
    base->count = base->sorted = kept;
}

static int compare_path(const void *path, const void *file)
{
    return strcmp(path, ((const struct al_base_file *)file)->path);
}

const struct al_base_file *al_base_find(struct al_base *base, const char *path)
{
    al_base_sort(base);
    return base->count ? bsearch(path, base->items, base->count, sizeof(*base->items), compare_path)
                       : NULL;
}

/* The index of the first file that is not before this path. */
static size_t lower_bound(const struct al_base *base, const char *path)
{
    size_t low = 0, high = base->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(base->items[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void al_base_list_replaced(struct al_base *base, const char *path, struct al_strv *ret_paths)
{
    al_auto(al_freep) char *below = al_asprintf("%s/", path);

    al_base_sort(base);
    for (size_t i = lower_bound(base, below);
         i < base->count && al_starts_with(base->items[i].path, below); i++)
        al_strv_add(ret_paths, base->items[i].path);
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        al_auto(al_freep) char *above = al_strndup(path, (size_t)(slash - path));

        if (al_base_find(base, above))
            al_strv_add(ret_paths, above);
    }
}

/* --- Reading --- */

struct listing {
    struct al_base *base;
    bool sha256, is_damaged;
};

/* "<mode> SP blob SP <oid> TAB <path>" */
static bool add_entry(void *payload, char *const *fields)
{
    struct listing *listing = payload;
    const char *end = fields[0], *tab = strchr(fields[0], '\t');
    unsigned mode = 0;
    struct al_oid oid;

    for (; *end >= '0' && *end <= '7'; end++)
        mode = mode << 3 | (unsigned)(*end - '0');
    if (!tab || !al_starts_with(end, " blob ") ||
        !al_oid_parse(end + strlen(" blob "), listing->sha256, &oid)) {
        listing->is_damaged = true;
        return false;
    }
    al_base_set(listing->base, tab + 1, mode, &oid);
    return true;
}

static int damaged(const struct al_staging *staging, const char *name, struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION, "the staging store '%s' is damaged: '%s'",
                        staging->dir, name);
}

static int read_tree(struct al_staging *staging, const char *tree, struct al_run_limits *budget,
                     struct al_base *base, struct al_error *err)
{
    struct listing listing = { .base = base, .sha256 = staging->options.sha256 };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, add_entry, &listing);
    int r = al_bare_list_tree(&staging->bare, tree, NULL, 0,
                              (struct al_sink){ al_nul_records_add, &records }, budget, err);

    if (r == 0 && listing.is_damaged)
        r = damaged(staging, tree, err);
    al_base_sort(base);
    return r;
}

int al_base_load(struct al_staging *staging, const char *key, struct al_run_limits *budget,
                 struct al_base *ret_base, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", key);
    al_auto(al_base_clear) struct al_base base = { .items = NULL };
    al_auto(al_json_decrefp) json_t *object = NULL;
    struct al_file_id id = al_file_id_at(staging->sandboxes_fd, name);
    const char *tree;
    struct al_oid oid;
    int r;

    *ret_base = (struct al_base){ .items = NULL };
    if (!id.exists || al_base_cache_get(staging, key, &id, ret_base))
        return 0;
    r = al_staging_read_json(staging, staging->sandboxes_fd, name, &object, err);
    if (r < 0)
        return r == AL_ERR_NOT_FOUND ? 0 : r;
    tree = al_json_get_string(object, "tree");
    if (!tree || !al_oid_parse(tree, staging->options.sha256, &oid))
        return damaged(staging, name, err);
    r = read_tree(staging, tree, budget, &base, err);
    if (r < 0)
        return r;
    al_heads_from_json(json_object_get(object, "heads"), &base.heads);
    al_base_cache_set(staging, key, &id, &base);
    *ret_base = base;
    base = (struct al_base){ .items = NULL };
    return 0;
}

/* --- Writing --- */

int al_base_put_tree(struct al_base *base, struct al_objects *objects, struct al_oid *ret_tree,
                     struct al_error *err)
{
    al_auto(al_freep) struct al_tree_file *files = NULL;
    int r;

    al_base_sort(base);
    files = al_calloc(base->count ? base->count : 1, sizeof(*files));
    for (size_t i = 0; i < base->count; i++)
        files[i] = (struct al_tree_file){ .path = base->items[i].path,
                                          .mode = base->items[i].mode,
                                          .oid = base->items[i].oid };
    r = al_tree_put(objects, files, base->count, ret_tree, err);
    if (r == AL_ERR_AGAIN)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "a name is both a file and a directory in what is staged");
    return r;
}

static json_t *describe(const struct al_staging *staging, const struct al_base *base,
                        const struct al_oid *tree)
{
    json_t *object = al_json_object();
    char text[AL_OID_TEXT];

    al_oid_text(tree, staging->options.sha256, text);
    al_json_set(object, "tree", al_json_string(text));
    al_json_set(object, "heads", al_heads_to_json(&base->heads));
    return object;
}

int al_base_save(struct al_staging *staging, const char *key, struct al_base *base,
                 struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", key);
    al_auto(al_freep) char *ref = al_asprintf(AL_REF_BASE "%s", key);
    al_auto(al_objects_clear) struct al_objects objects;
    al_auto(al_json_decrefp) json_t *object = NULL;
    struct al_file_id id;
    struct al_oid tree;
    int r;

    al_staging_objects(staging, &objects);
    r = al_base_put_tree(base, &objects, &tree, err);
    if (r == 0)
        r = al_objects_finish(&objects, err);
    if (r == 0)
        r = al_staging_write_ref(staging, ref, &tree, err);
    if (r < 0)
        return r;
    object = describe(staging, base, &tree);
    r = al_staging_write_json(staging, staging->sandboxes_fd, name, object, err);
    if (r < 0)
        return r;
    id = al_file_id_at(staging->sandboxes_fd, name);
    al_base_cache_set(staging, key, &id, base);
    return 0;
}
