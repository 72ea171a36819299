// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/private.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "staging/store.h"

void al_pull_clear(struct al_pull *pull)
{
    for (size_t i = 0; i < pull->count; i++) {
        free(pull->items[i].path);
        al_str_clear(&pull->items[i].ours_text);
        al_str_clear(&pull->items[i].result_text);
    }
    free(pull->items);
    al_tree_clear(&pull->commit);
    al_base_clear(&pull->base);
    al_base_clear(&pull->origin);
    al_sandbox_files_clear(&pull->files);
}

/* --- Putting the lists side by side --- */

/* The version of this branch is the ancestor, if it is known: the base may have come from another
 * branch, or have been pushed to one.  A base that equals the incoming file has it already. */
static struct al_sandbox_version find_ancestor(const struct al_pull *pull,
                                               const struct al_pull_item *item)
{
    struct al_sandbox_version base = al_sandbox_files_find(&pull->base.files, item->path);
    struct al_sandbox_version origin = al_sandbox_files_find(&pull->origin.files, item->path);

    return origin.mode && !al_sandbox_version_equal(&base, &item->theirs) ? origin : base;
}

static void add_item(struct al_pull *pull, const char *path, const struct al_sandbox_file *theirs)
{
    struct al_pull_item *item = &pull->items[pull->count++];

    *item = (struct al_pull_item){ .path = al_strdup(path),
                                   .ours_text = AL_STR_INIT,
                                   .result_text = AL_STR_INIT };
    item->ours = al_sandbox_files_find(&pull->files, path);
    if (theirs)
        item->theirs = (struct al_sandbox_version){ theirs->mode, theirs->oid };
    item->base = find_ancestor(pull, item);
}

/* A file that came from the branch, and has not come from elsewhere since. */
static bool is_from_origin(const struct al_pull *pull, const struct al_sandbox_file *seen)
{
    struct al_sandbox_version base = al_sandbox_files_find(&pull->base.files, seen->path);
    struct al_sandbox_version origin = { seen->mode, seen->oid };

    return al_sandbox_version_equal(&base, &origin);
}

void al_pull_list(struct al_pull *pull)
{
    const struct al_sandbox_files *list = &pull->commit.files, *origin = &pull->origin.files;

    pull->items = al_calloc(list->count + origin->count + 1, sizeof(*pull->items));
    for (size_t i = 0, j = 0; i < list->count || j < origin->count;) {
        int order = i == list->count     ? 1
                    : j == origin->count ? -1
                                         : strcmp(list->items[i].path, origin->items[j].path);

        if (order <= 0)
            add_item(pull, list->items[i].path, &list->items[i]);
        else if (is_from_origin(pull, &origin->items[j]))
            add_item(pull, origin->items[j].path, NULL);
        i += order <= 0;
        j += order >= 0;
    }
}

/* --- Deciding --- */

static const char *why_skipped(const struct al_pull *pull, const struct al_pull_item *item)
{
    al_auto(al_freep) char *given = al_asprintf(AL_SANDBOX_ROOT "/%s", item->path);
    al_auto(al_freep) char *path = NULL;

    if (!item->theirs.mode)
        return NULL;
    if (al_sandbox_path(given, &path, NULL) < 0 || strcmp(path, item->path) != 0)
        return "a sandbox cannot have a file of this name";
    if (S_ISLNK(item->theirs.mode))
        return al_sandbox_allows_symlinks(pull->staging->options.sandbox) ? NULL
                                                                          : "it is a symbolic link";
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

void al_pull_decide(struct al_pull *pull)
{
    for (size_t i = 0; i < pull->count; i++) {
        struct al_pull_item *item = &pull->items[i];

        if (!item->chosen)
            continue;
        item->skipped = why_skipped(pull, item);
        if (!item->skipped)
            decide(item);
    }
}

/* --- Files and directories of one name --- */

/* The files that the sandbox has when everything is removed that goes.  Their paths are borrowed.
 */
static void list_staying(const struct al_pull *pull, struct al_sandbox_files *ret_files)
{
    for (size_t i = 0, j = 0; i < pull->files.count; i++) {
        const struct al_sandbox_file *file = &pull->files.items[i];

        while (j < pull->count && strcmp(pull->items[j].path, file->path) < 0)
            j++;
        if (j == pull->count || strcmp(pull->items[j].path, file->path) != 0 ||
            !pull->items[j].changes || pull->items[j].result.mode)
            al_sandbox_files_add(ret_files, file);
    }
}

static void block(struct al_pull_item *item, const char *conflict)
{
    al_pull_keep_ours(item, conflict);
    item->is_blocked = true;
}

/* Of paths that are longer and shorter than this one, in this order. */
static bool begins_below(const struct al_strv *others, const char *path)
{
    return others->count && strlen(others->items[0]) > strlen(path);
}

static bool ends_above(const struct al_strv *others, const char *path)
{
    return others->count && strlen(others->items[others->count - 1]) < strlen(path);
}

void al_pull_check_places(struct al_pull *pull)
{
    struct al_sandbox_files staying = AL_SANDBOX_FILES_INIT;

    list_staying(pull, &staying);
    for (size_t i = 0; i < pull->count; i++) {
        struct al_pull_item *item = &pull->items[i];
        al_auto(al_strv_clear) struct al_strv ours = AL_STRV_INIT;
        al_auto(al_strv_clear) struct al_strv theirs = AL_STRV_INIT; /* of a forged tree */

        if (!item->changes || !item->result.mode || item->ours.mode)
            continue;
        al_files_list_replaced(&staying, item->path, &ours);
        al_files_list_replaced(&pull->commit.files, item->path, &theirs);
        if (begins_below(&ours, item->path))
            block(item, "a file upstream and a directory in the sandbox; the sandbox's files were "
                        "kept");
        else if (ends_above(&ours, item->path) || ends_above(&theirs, item->path))
            block(item, "below a directory upstream that is a file in the sandbox; the sandbox's "
                        "file was kept");
    }
    free(staying.items);
}
