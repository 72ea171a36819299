// SPDX-License-Identifier: Apache-2.0
/* The differences between two checkpoints. */
#include <stdlib.h>

#include "base/fs.h"
#include "git/plumbing/gitdir.h"
#include "history/checkpoint.h"
#include "history/files.h"
#include "history/modes.h"
#include "history/store.h"

static void change_clear(struct al_difference *change)
{
    free(change->name);
    free(change->from);
    free(change->to);
}

void al_change_drop(struct al_differences *changes, struct al_difference *change)
{
    change_clear(change);
    memmove(change, change + 1,
            (size_t)(&changes->items[--changes->count] - change) * sizeof(*change));
}

void al_differences_clear(struct al_differences *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        change_clear(&changes->items[i]);
    free(changes->items);
    *changes = (struct al_differences){ .items = NULL };
}

int al_difference_order(const void *a, const void *b)
{
    const struct al_difference *one = a, *two = b;

    return one->part != two->part ? (int)one->part - (int)two->part : strcmp(one->name, two->name);
}

void al_differences_sort(struct al_differences *changes)
{
    if (changes->count)
        qsort(changes->items, changes->count, sizeof(*changes->items), al_difference_order);
}

struct al_difference *al_differences_add(struct al_differences *changes, enum al_part part,
                                         const char *name)
{
    changes->items = al_grow(changes->items, changes->count, sizeof(*changes->items));
    changes->items[changes->count] =
        (struct al_difference){ .part = part, .name = al_strdup(name) };
    return &changes->items[changes->count++];
}

size_t al_change_at(const struct al_differences *changes, enum al_part part, const char *name)
{
    const struct al_difference key = { .part = part, .name = (char *)(uintptr_t)name };
    size_t low = 0, high = changes->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (al_difference_order(&changes->items[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct al_difference *al_change_find(const struct al_differences *changes, enum al_part part,
                                     const char *name)
{
    size_t at = al_change_at(changes, part, name);
    struct al_difference *found = at < changes->count ? &changes->items[at] : NULL;

    return found && found->part == part && !strcmp(found->name, name) ? found : NULL;
}

/* Whether two checkpoints say something about a thing that one of them has, or both.  Only those
 * that are about a linked worktree say anything about it. */
static bool is_compared(unsigned without, const struct al_difference *a,
                        const struct al_difference *b)
{
    static const unsigned parts[] = { [AL_PART_WORKTREE] = AL_PARTS_WORKTREE,
                                      [AL_PART_INDEX] = AL_PARTS_INDEX,
                                      [AL_PART_REF] = AL_PARTS_REFS,
                                      [AL_PART_LINKED] = 0 };
    const enum al_part part = (a ? a : b)->part;

    return !(without & parts[part]) && (part != AL_PART_LINKED || b);
}

void al_values_compare(const struct al_differences *from, const struct al_differences *to,
                       unsigned without, struct al_differences *changes)
{
    size_t i = 0, k = 0;

    while (i < from->count || k < to->count) {
        int order = i == from->count ? 1
                    : k == to->count ? -1
                                     : al_difference_order(&from->items[i], &to->items[k]);
        const struct al_difference *a = order <= 0 ? &from->items[i++] : NULL;
        const struct al_difference *b = order >= 0 ? &to->items[k++] : NULL;
        struct al_difference *change;

        if (!is_compared(without, a, b) ||
            (a && b && a->to_mode == b->to_mode && !strcmp(a->to, b->to)))
            continue;
        change = al_differences_add(changes, (a ? a : b)->part, (a ? a : b)->name);
        change->from = al_strdup(a ? a->to : NULL);
        change->from_mode = a ? a->to_mode : 0;
        change->to = al_strdup(b ? b->to : NULL);
        change->to_mode = b ? b->to_mode : 0;
    }
}

bool al_files_concern(const struct al_strv *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (al_fs_beneath(files->items[i], path) || al_fs_beneath(path, files->items[i]))
            return true;
    return false;
}

bool al_moves_concern(const struct al_strv *moves, const char *name)
{
    for (size_t i = 0; i < moves->count; i++)
        if (al_ends_with(moves->items[i], "/") ? al_starts_with(name, moves->items[i])
                                               : !strcmp(name, moves->items[i]))
            return true;
    return false;
}

/* Whether a file is of a linked worktree that both checkpoints have: whoever works there changes
 * it.  One without files of the working tree has none of it. */
static bool is_of_both(const struct al_saved *from, const struct al_saved *to,
                       const struct al_difference *change)
{
    const char *id =
        change->part == AL_PART_STATE ? al_fs_beneath("worktrees", change->name) : NULL;
    al_auto(al_freep) char *head =
        id ? al_asprintf("worktrees/%.*s/HEAD", (int)strcspn(id, "/"), id) : NULL;

    return head && ((from->without | to->without) & AL_PARTS_WORKTREE ||
                    (!al_ends_with(change->name, "/gitdir") && /* which says where it is */
                     al_change_find(&from->values, AL_PART_STATE, head) &&
                     al_change_find(&to->values, AL_PART_STATE, head)));
}

/* Whether the execution with this checkpoint before can have made a change.  A later checkpoint
 * that is not the one after it, but before another one, says nothing about it. */
static bool can_make(const struct al_saved *before, const struct al_saved *end,
                     const struct al_difference *change)
{
    const char *name = change->part == AL_PART_STASH ? "refs/stash" : change->name;

    if (change->part == AL_PART_WORKTREE)
        return before->writes_all || al_strv_contains_sorted(&before->writes, name) ||
               al_files_concern(&before->writes, name) ||
               (end->writes_all && al_files_concern(&end->writes, name));
    return before->moves_all || change->part == AL_PART_INDEX || change->part == AL_PART_LINKED ||
           (change->part == AL_PART_STATE &&
            !(al_gitdir_is_setting(name) && al_gitdir_is_common(name))) ||
           al_moves_concern(&before->moves, name);
}

static bool take_file(void *payload, const struct al_change *change)
{
    al_auto(al_freep) char *name = al_files_path(change->path);
    struct al_difference *file = name ? al_differences_add(payload, AL_PART_WORKTREE, name) : NULL;

    if (!file)
        return true;
    file->from_mode = change->old_mode;
    file->to_mode = change->new_mode;
    file->from = al_strdup(change->old_mode ? change->old_oid : NULL);
    file->to = al_strdup(change->new_mode ? change->new_oid : NULL);
    return true;
}

/* Whether a file that is new seems so since it was left out before. */
static bool was_left_out(const struct al_saved *from, const struct al_difference *change)
{
    al_auto(al_freep) char *name =
        change->part == AL_PART_STATE ? al_asprintf(".git/%s", change->name) : NULL;

    return !change->from && from->left_out.count &&
           al_strv_contains_sorted(&from->left_out, name ? name : change->name);
}

int al_checkpoint_changes_of(struct al_store *store, const char *before, const char *end,
                             struct al_differences *ret_changes, struct al_error *err)
{
    al_auto(al_differences_clear) struct al_differences changes = { .items = NULL };
    const struct al_saved *from, *to;
    unsigned without;
    bool same_modes, same_index;
    int r = al_checkpoint_load(store, before, false, &from, err);

    if (r == 0)
        r = al_checkpoint_load(store, end, false, &to, err);
    *ret_changes = changes;
    if (r < 0 || from == to)
        return r;
    without = from->without | to->without;
    same_modes = from->modes.len == to->modes.len &&
                 !memcmp(from->modes.buf, to->modes.buf, from->modes.len);
    if (!(without & AL_PARTS_WORKTREE) && same_modes) {
        r = al_bare_read_changes(&store->bare, from->id, to->id, al_saved_files, take_file,
                                 &changes, err);
        al_differences_sort(&changes);
        al_modes_apply(&from->modes, &changes);
    } else if (!(without & AL_PARTS_WORKTREE)) { /* git does not know all permissions */
        r = al_checkpoint_load_files(store, before, false, &from, err);
        if (r == 0)
            r = al_checkpoint_load_files(store, end, false, &to, err);
    }
    if (r < 0)
        return r;
    al_values_compare(&from->values, &to->values, without | (same_modes ? AL_PARTS_WORKTREE : 0),
                      &changes);
    for (size_t i = changes.count; i > 0; i--) {
        struct al_difference *change = &changes.items[i - 1];

        change->was_left_out = was_left_out(from, change);
        if (!can_make(from, to, change) || is_of_both(from, to, change))
            al_change_drop(&changes, change);
    }
    same_index = from->pieces.count == to->pieces.count;
    for (size_t i = 0; same_index && i < to->pieces.count; i++)
        same_index = !strcmp(from->pieces.items[i], to->pieces.items[i]);
    changes.index_was_written = !(without & AL_PARTS_INDEX) && !same_index;
    *ret_changes = changes;
    changes = (struct al_differences){ .items = NULL };
    return 0;
}

bool al_refs_parse(const char *text, size_t len, struct al_differences *refs)
{
    while (len) {
        const char *end = memchr(text, '\n', len);
        const char *space = end ? memrchr(text, ' ', (size_t)(end - text)) : NULL;
        al_auto(al_freep) char *name = NULL;

        if (!space)
            return false;
        name = al_strndup(space + 1, (size_t)(end - space - 1));
        al_differences_add(refs, AL_PART_REF, name)->to = al_strndup(text, (size_t)(space - text));
        len -= (size_t)(end - text) + 1;
        text = end + 1;
    }
    return true;
}
