// SPDX-License-Identifier: Apache-2.0
#include "staging/base.h"

#include <stdlib.h>

#include "gitops/nul_records.h"
#include "odb/tree.h"
#include "staging/base_cache.h"
#include "staging/base_record.h"
#include "staging/store.h"
#include "staging/tree_bounds.h"
#include "util/sorted.h"

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

const struct al_base_file *al_base_find(struct al_base *base, const char *path)
{
    size_t at;

    al_base_sort(base);
    at = al_sorted_find(base->items, base->count, sizeof(*base->items), path);
    return at == SIZE_MAX ? NULL : &base->items[at];
}

void al_base_list_replaced(struct al_base *base, const char *path, struct al_strv *ret_paths)
{
    al_auto(al_freep) char *below = al_asprintf("%s/", path);

    al_base_sort(base);
    for (size_t i = al_sorted_lower_bound(base->items, base->count, sizeof(*base->items), below);
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
    struct al_tree_bounds bounds;
    bool sha256, is_damaged;
};

/* "<mode> SP blob SP <oid> TAB <path>" */
static bool add_entry(void *payload, char *const *fields)
{
    struct listing *listing = payload;
    const char *end, *tab = strchr(fields[0], '\t');
    unsigned mode = al_tree_parse_mode(fields[0], &end);
    struct al_oid oid;

    if (!tab || !al_starts_with(end, " blob ") ||
        !al_oid_parse(end + strlen(" blob "), listing->sha256, &oid)) {
        listing->is_damaged = true;
        return false;
    }
    if (!al_tree_bounds_add(&listing->bounds, tab + 1))
        return false;
    al_base_set(listing->base, tab + 1, mode, &oid);
    return true;
}

static int check_size(const struct al_tree_bounds *bounds, struct al_error *err)
{
    return al_tree_bounds_check(bounds, "what was pulled into this sandbox",
                                "use another sandbox for other repositories", err);
}

static int read_tree(struct al_staging *staging, const struct al_oid *tree,
                     struct al_run_limits *budget, struct al_base *base, struct al_error *err)
{
    struct listing listing = { .base = base, .sha256 = staging->options.sha256 };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, add_entry, &listing);
    char text[AL_OID_TEXT];
    int r;

    al_oid_text(tree, listing.sha256, text);
    r = al_bare_list_tree(&staging->bare, text, NULL, 0,
                          (struct al_sink){ al_nul_records_add, &records }, budget, err);
    if (r == 0 && listing.is_damaged)
        r = al_error_set(err, AL_ERR_EXECUTION, "the staging store '%s' is damaged: tree %s",
                         staging->dir, text);
    if (r == 0)
        r = check_size(&listing.bounds, err);
    al_base_sort(base);
    return r;
}

int al_base_load(struct al_staging *staging, const char *key, struct al_run_limits *budget,
                 struct al_base *ret_base, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", key);
    al_auto(al_base_clear) struct al_base base = { .items = NULL };
    al_auto(al_base_record_clear) struct al_base_record record = { .heads = { .items = NULL } };
    struct al_file_id id = al_file_id_at(staging->sandboxes_fd, name);
    int r;

    *ret_base = (struct al_base){ .items = NULL };
    if (!id.exists || al_base_cache_get(staging, key, &id, ret_base))
        return 0;
    r = al_base_record_read(staging, key, budget, &record, err);
    if (r < 0)
        return r == AL_ERR_NOT_FOUND ? 0 : r;
    r = read_tree(staging, &record.tree, budget, &base, err);
    if (r < 0)
        return r;
    base.heads = record.heads;
    record.heads = (struct al_heads){ .items = NULL };
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

/* What is written can be read again. */
static int check_readable(const struct al_base *base, struct al_error *err)
{
    struct al_tree_bounds bounds = { .entries = 0 };

    for (size_t i = 0; i < base->count && al_tree_bounds_add(&bounds, base->items[i].path); i++)
        continue;
    return check_size(&bounds, err);
}

int al_base_save(struct al_staging *staging, const char *key, struct al_base *base,
                 struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("%s.json", key);
    al_auto(al_freep) char *ref = al_asprintf(AL_REF_BASE "%s", key);
    al_auto(al_objects_clear) struct al_objects objects;
    struct al_base_record record = { .heads = base->heads }; /* borrowed */
    struct al_file_id id;
    int r;

    al_base_sort(base);
    al_staging_objects(staging, &objects);
    r = check_readable(base, err);
    if (r == 0)
        r = al_base_put_tree(base, &objects, &record.tree, err);
    if (r == 0)
        r = al_objects_finish(&objects, err);
    if (r == 0)
        r = al_staging_write_ref(staging, ref, &record.tree, err);
    if (r == 0)
        r = al_base_record_write(staging, key, &record, err);
    if (r < 0)
        return r;
    id = al_file_id_at(staging->sandboxes_fd, name);
    al_base_cache_set(staging, key, &id, base);
    return 0;
}
