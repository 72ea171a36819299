// SPDX-License-Identifier: Apache-2.0
#include "staging/changes.h"

#include <stdlib.h>

#include "sandbox/sandbox.h"
#include "staging/base.h"
#include "staging/store.h"

static void clear_changes(struct al_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        free(changes->items[i].path);
    free(changes->items);
    *changes = (struct al_changes){ .items = NULL };
}

const char *al_change_status(const struct al_sandbox_change *change)
{
    static const char *const words[] = { "new", "modified", "deleted" };

    return words[change->operation];
}

static void apply(const struct al_staged *staged, struct al_base *base)
{
    for (size_t i = 0; i < staged->count; i++) {
        const struct al_staged_file *file = &staged->files[i];

        if (file->operation == AL_STAGED_DELETE)
            al_base_remove(base, file->path);
        else
            al_base_set(base, file->path, file->mode, &file->oid);
    }
}

/* What was staged before a pull moved a head would overwrite what came: it is staged again, and
 * counts as changed until then. */
static int load_base(struct al_staging *staging, const char *key, struct al_run_limits *budget,
                     const struct al_staged_list *list, struct al_base *ret_base,
                     struct al_error *err)
{
    int r = al_base_load(staging, key, budget, ret_base, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i].sandbox, key) &&
            !al_heads_differ(&list->items[i].heads, &ret_base->heads))
            apply(&list->items[i], ret_base);
    al_base_sort(ret_base);
    return 0;
}

static struct al_sandbox_change *add(struct al_changes *changes, const char *path,
                                     enum al_staged_operation operation)
{
    struct al_sandbox_change *change;

    if (!(changes->count & (changes->count - 1))) /* 0 or a power of two: there is no more room */
        changes->items = al_reallocarray(changes->items, changes->count ? 2 * changes->count : 1,
                                         sizeof(*changes->items));
    change = &changes->items[changes->count++];
    *change = (struct al_sandbox_change){ .path = al_strdup(path), .operation = operation };
    return change;
}

static void add_present(struct al_changes *changes, const struct al_sandbox_file *file,
                        enum al_staged_operation operation)
{
    struct al_sandbox_change *change = add(changes, file->path, operation);

    change->mode = file->mode;
    change->oid = file->oid;
    change->size = file->size;
}

/* Merge two sorted lists. */
static void compare(const struct al_base *base, const struct al_sandbox_files *files,
                    struct al_changes *changes)
{
    size_t i = 0, j = 0;

    while (i < base->count || j < files->count) {
        const struct al_base_file *old = &base->items[i];
        const struct al_sandbox_file *new = &files->items[j];
        int order = i == base->count ? 1 : j == files->count ? -1 : strcmp(old->path, new->path);

        if (order < 0)
            (void)add(changes, old->path, AL_STAGED_DELETE);
        else if (order > 0)
            add_present(changes, new, AL_STAGED_CREATE);
        else if (old->mode != new->mode || !al_oid_equal(&old->oid, &new->oid))
            add_present(changes, new, AL_STAGED_UPDATE);
        i += order <= 0;
        j += order >= 0;
    }
}

/* An imported file that was never read has no size yet.  A link is not read. */
static int add_sizes(struct al_sandbox *sandbox, const struct al_sandbox_files *files,
                     struct al_changes *changes, struct al_error *err)
{
    size_t j = 0;
    int r = 0;

    for (size_t i = 0; i < changes->count && r == 0; i++) {
        struct al_sandbox_change *change = &changes->items[i];
        al_auto(al_str_clear) struct al_str none = AL_STR_INIT;

        while (j < files->count && strcmp(files->items[j].path, change->path) < 0)
            j++;
        if (change->mode && change->mode != AL_SANDBOX_MODE_LINK && !files->items[j].has_size)
            r = al_sandbox_read(sandbox, change->path, 0, 0, &none, &change->size, err);
    }
    return r;
}

void al_comparison_clear(struct al_comparison *comparison)
{
    al_staged_list_clear(&comparison->staged);
    al_base_clear(&comparison->base);
    al_sandbox_files_clear(&comparison->files);
    clear_changes(&comparison->changes);
    comparison->files = AL_SANDBOX_FILES_INIT;
}

int al_comparison_make(struct al_staging *staging, struct al_run_limits *budget,
                       struct al_comparison *ret_comparison, struct al_error *err)
{
    struct al_comparison made = { .files = AL_SANDBOX_FILES_INIT };
    struct al_sandbox *sandbox = staging->options.sandbox;
    int r = al_staged_list(staging, budget, &made.staged, err);

    if (r == 0)
        r = load_base(staging, staging->key, budget, &made.staged, &made.base, err);
    if (r == 0)
        r = al_sandbox_snapshot(sandbox, &made.files, err);
    if (r == 0) {
        compare(&made.base, &made.files, &made.changes);
        r = add_sizes(sandbox, &made.files, &made.changes, err);
    }
    if (r < 0)
        al_comparison_clear(&made);
    else
        *ret_comparison = made;
    return r;
}
