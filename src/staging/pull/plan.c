// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/private.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/sorted.h"
#include "staging/store.h"

void al_pull_plan_clear(struct al_pull_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        free(plan->items[i].path);
        al_str_clear(&plan->items[i].ours_text);
        al_str_clear(&plan->items[i].result_text);
    }
    free(plan->items);
    *plan = (struct al_pull_plan){ .items = NULL };
}

/* --- Putting the lists side by side --- */

struct al_sandbox_version al_pull_find_ours(const struct al_sandbox_files *files, const char *path)
{
    const size_t at = al_sorted_find(files->items, files->count, sizeof(*files->items), path);

    return at == SIZE_MAX
               ? (struct al_sandbox_version){ 0 }
               : (struct al_sandbox_version){ files->items[at].mode, files->items[at].oid };
}

struct al_sandbox_version al_pull_find_base(struct al_base *base, const char *path)
{
    const struct al_base_file *file = al_base_find(base, path);

    return file ? (struct al_sandbox_version){ file->mode, file->oid }
                : (struct al_sandbox_version){ 0 };
}

/* What this branch had is the ancestor, if it is known: the base may have come from another branch,
 * or have been pushed to one.  A base that equals the incoming file has it already. */
static struct al_sandbox_version find_ancestor(const struct al_pull_from *from,
                                               const struct al_pull_item *item)
{
    struct al_sandbox_version base = al_pull_find_base(from->base, item->path);
    struct al_sandbox_version origin = al_pull_find_base(from->origin, item->path);

    return origin.mode && !al_sandbox_version_equal(&base, &item->theirs) ? origin : base;
}

static void add_item(const struct al_pull_from *from, struct al_pull_plan *plan, const char *path,
                     const struct al_sandbox_file *theirs)
{
    struct al_pull_item *item = &plan->items[plan->count++];

    *item = (struct al_pull_item){ .path = al_strdup(path),
                                   .which = SIZE_MAX,
                                   .ours_text = AL_STR_INIT,
                                   .result_text = AL_STR_INIT };
    item->ours = al_pull_find_ours(from->files, path);
    if (theirs) {
        item->theirs = (struct al_sandbox_version){ theirs->mode, theirs->oid };
        item->which = (size_t)(theirs - from->list->items);
    }
    item->base = find_ancestor(from, item);
}

/* A file that came from the branch, and has not come from elsewhere since. */
static bool is_from_origin(const struct al_pull_from *from, const struct al_base_file *seen)
{
    struct al_sandbox_version base = al_pull_find_base(from->base, seen->path);
    struct al_sandbox_version origin = { seen->mode, seen->oid };

    return al_sandbox_version_equal(&base, &origin);
}

void al_pull_plan_make(const struct al_pull_from *from, struct al_pull_plan *ret_plan)
{
    const struct al_pull_list *list = from->list;
    const struct al_base *origin = from->origin;
    struct al_pull_plan plan = { .items = NULL };

    al_base_sort(from->origin);
    plan.items = al_calloc(list->count + origin->count + 1, sizeof(*plan.items));
    for (size_t i = 0, j = 0; i < list->count || j < origin->count;) {
        int order = i == list->count     ? 1
                    : j == origin->count ? -1
                                         : strcmp(list->items[i].path, origin->items[j].path);

        if (order <= 0)
            add_item(from, &plan, list->items[i].path, &list->items[i]);
        else if (is_from_origin(from, &origin->items[j]))
            add_item(from, &plan, origin->items[j].path, NULL);
        i += order <= 0;
        j += order >= 0;
    }
    *ret_plan = plan;
}

/* --- Deciding --- */

static const char *why_skipped(const struct al_pull_from *from, const struct al_pull_item *item)
{
    al_auto(al_freep) char *given = al_asprintf(AL_SANDBOX_ROOT "/%s", item->path);
    al_auto(al_freep) char *path = NULL;

    if (!item->theirs.mode)
        return NULL;
    if (al_sandbox_path(given, &path, NULL) < 0 || strcmp(path, item->path) != 0)
        return "a sandbox cannot have a file of this name";
    if (S_ISLNK(item->theirs.mode))
        return from->allows_symlinks ? NULL : "it is a symbolic link";
    return S_ISREG(item->theirs.mode) ? NULL : "it is a submodule";
}

void al_pull_keep_ours(struct al_pull_item *item, const char *conflict)
{
    item->conflict = conflict;
    item->changes = item->merges = item->is_settled = false;
}

static void take(struct al_pull_item *item)
{
    item->changes = item->is_settled = true;
    item->result = item->theirs;
}

/* The mode of a file that may have changed on both sides.  0: it did. */
static unsigned merge_modes(const struct al_pull_item *item)
{
    unsigned ours = item->ours.mode, theirs = item->theirs.mode, base = item->base.mode;

    if (ours == theirs || theirs == base)
        return ours;
    return ours == base ? theirs : 0;
}

static void merge_files(struct al_pull_item *item)
{
    const struct al_oid *ours = &item->ours.oid, *theirs = &item->theirs.oid;

    if (!S_ISREG(item->ours.mode) || !S_ISREG(item->theirs.mode)) {
        al_pull_keep_ours(item, "one side has a symbolic link; the sandbox's version was kept");
        return;
    }
    item->result = (struct al_sandbox_version){ merge_modes(item), *ours };
    item->is_settled = true;
    if (!item->result.mode) {
        item->result.mode = item->ours.mode;
        item->conflict = "the two sides disagree about whether it is executable; the sandbox's "
                         "mode was kept";
    }
    if (al_oid_equal(ours, theirs) || (item->base.mode && al_oid_equal(theirs, &item->base.oid))) {
        item->changes = item->result.mode != item->ours.mode;
    } else if (item->base.mode && al_oid_equal(ours, &item->base.oid)) {
        item->result.oid = *theirs;
        item->changes = true;
    } else {
        item->merges = true;
    }
}

static void decide(struct al_pull_item *item)
{
    if (al_sandbox_version_equal(&item->ours, &item->theirs)) {
        item->is_settled = true;
    } else if (al_sandbox_version_equal(&item->theirs, &item->base)) {
        return; /* only the sandbox's file changed */
    } else if (al_sandbox_version_equal(&item->ours, &item->base)) {
        take(item);
    } else if (!item->theirs.mode) {
        al_pull_keep_ours(item, "deleted upstream and changed in the sandbox; the sandbox's file "
                                "was kept");
    } else if (!item->ours.mode) {
        take(item);
        item->conflict = "deleted in the sandbox and changed upstream; the incoming file was "
                         "written";
    } else {
        merge_files(item);
    }
}

void al_pull_decide(const struct al_pull_from *from, struct al_pull_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct al_pull_item *item = &plan->items[i];

        if (!item->chosen)
            continue;
        item->skipped = why_skipped(from, item);
        if (!item->skipped)
            decide(item);
    }
}

/* --- Files and directories of one name --- */

/* The paths that the sandbox has when everything is removed that goes. */
static void list_staying(const struct al_pull_from *from, const struct al_pull_plan *plan,
                         struct al_strv *ret_paths)
{
    for (size_t i = 0, j = 0; i < from->files->count; i++) {
        const char *path = from->files->items[i].path;

        while (j < plan->count && strcmp(plan->items[j].path, path) < 0)
            j++;
        if (j < plan->count && !strcmp(plan->items[j].path, path) && plan->items[j].changes &&
            !plan->items[j].result.mode)
            continue;
        al_strv_add(ret_paths, path);
    }
}

static bool has_below(const struct al_strv *paths, const char *path)
{
    struct al_range below = al_choose_range(
        &(struct al_choosing){ paths->items, paths->count, sizeof(*paths->items), NULL, NULL },
        path);

    return below.begin < below.end;
}

/* Whether a file is where a directory has to be: one that stays, or one of the commit. */
static bool has_above(const struct al_pull_from *from, const struct al_strv *paths,
                      const char *path)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        al_auto(al_freep) char *above = al_strndup(path, (size_t)(slash - path));

        if (al_strv_contains_sorted(paths, above) || al_pull_list_find(from->list, above))
            return true;
    }
    return false;
}

static void block(struct al_pull_item *item, const char *conflict)
{
    al_pull_keep_ours(item, conflict);
    item->is_blocked = true;
}

void al_pull_check_places(const struct al_pull_from *from, struct al_pull_plan *plan)
{
    al_auto(al_strv_clear) struct al_strv staying = AL_STRV_INIT;

    list_staying(from, plan, &staying);
    for (size_t i = 0; i < plan->count; i++) {
        struct al_pull_item *item = &plan->items[i];

        if (!item->changes || !item->result.mode || item->ours.mode)
            continue;
        if (has_below(&staying, item->path))
            block(item, "a file upstream and a directory in the sandbox; the sandbox's files were "
                        "kept");
        else if (has_above(from, &staying, item->path))
            block(item, "below a directory upstream that is a file in the sandbox; the sandbox's "
                        "file was kept");
    }
}
