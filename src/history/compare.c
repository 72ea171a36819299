// SPDX-License-Identifier: Apache-2.0
/* The differences between two checkpoints. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "history/checkpoint.h"
#include "history/linked.h"
#include "util/fs.h"

void al_change_clear(struct al_difference *change)
{
    free(change->name);
    free(change->from);
    free(change->to);
}

void al_change_drop(struct al_differences *changes, struct al_difference *change)
{
    al_change_clear(change);
    memmove(change, change + 1,
            (size_t)(&changes->items[--changes->count] - change) * sizeof(*change));
}

void al_differences_clear(struct al_differences *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        al_change_clear(&changes->items[i]);
    free(changes->items);
    *changes = (struct al_differences){ .items = NULL };
}

int al_difference_order(const void *a, const void *b)
{
    const struct al_difference *one = a, *two = b;

    return one->part != two->part ? (int)one->part - (int)two->part : strcmp(one->name, two->name);
}

static struct al_difference *add(struct al_differences *changes, enum al_part part,
                                 const char *name, const char *from, const char *to)
{
    struct al_difference *change;

    changes->items = al_reallocarray(changes->items, changes->count + 1, sizeof(*changes->items));
    change = &changes->items[changes->count++];
    *change = (struct al_difference){
        .part = part, .name = al_strdup(name), .from = al_strdup(from), .to = al_strdup(to)
    };
    return change;
}

static void add_file(struct al_differences *changes, enum al_part part,
                     const struct al_saved_file *from, const struct al_saved_file *to)
{
    struct al_difference *change = add(changes, part, from ? from->path : to->path,
                                       from ? from->oid : NULL, to ? to->oid : NULL);

    change->from_mode = from ? from->mode : 0;
    change->to_mode = to ? to->mode : 0;
}

static bool is_same_file(const struct al_saved_file *a, const struct al_saved_file *b)
{
    return a->mode == b->mode && !strcmp(a->oid, b->oid);
}

static enum al_part part_of(const char *path, bool worktree)
{
    if (worktree)
        return AL_PART_WORKTREE;
    if (al_starts_with(path, AL_LINKED_PREFIX) || al_starts_with(path, AL_LINKED_LOCK_PREFIX))
        return AL_PART_LINKED;
    return !strcmp(path, "logs/refs/stash") ? AL_PART_STASH : AL_PART_STATE;
}

/* Only checkpoints that are about a linked worktree say anything about it. */
static bool is_compared(const struct al_saved_file *a, const struct al_saved_file *b, bool worktree)
{
    return (a && b) || part_of(a ? a->path : b->path, worktree) != AL_PART_LINKED;
}

static void compare_files(const struct al_saved_files *from, const struct al_saved_files *to,
                          bool worktree, struct al_differences *changes)
{
    size_t i = 0, k = 0;

    while (i < from->count || k < to->count) {
        int order = i == from->count ? 1
                    : k == to->count ? -1
                                     : strcmp(from->items[i].path, to->items[k].path);
        const struct al_saved_file *a = order <= 0 ? &from->items[i++] : NULL;
        const struct al_saved_file *b = order >= 0 ? &to->items[k++] : NULL;

        if (is_compared(a, b, worktree) && (!a || !b || !is_same_file(a, b)))
            add_file(changes, part_of(a ? a->path : b->path, worktree), a, b);
    }
}

static void note_left_out(struct al_strv *left_out, struct al_differences *changes)
{
    al_strv_sort(left_out);
    for (size_t i = 0; left_out->count && i < changes->count; i++)
        changes->items[i].was_left_out =
            !changes->items[i].from && al_strv_contains_sorted(left_out, changes->items[i].name);
}

static bool is_same_index(const struct al_saved_state *a, const struct al_saved_state *b)
{
    return a->has_index == b->has_index && a->index.len == b->index.len &&
           !memcmp(a->index.buf, b->index.buf, a->index.len);
}

static void compare_refs(const struct al_saved_state *from, const struct al_saved_state *to,
                         struct al_differences *changes)
{
    size_t i = 0, k = 0;

    while (i < from->nrefs || k < to->nrefs) {
        int order = i == from->nrefs ? 1
                    : k == to->nrefs ? -1
                                     : strcmp(from->refs[i].name, to->refs[k].name);
        const struct al_saved_ref *a = order <= 0 ? &from->refs[i++] : NULL;
        const struct al_saved_ref *b = order >= 0 ? &to->refs[k++] : NULL;

        if (!a || !b || strcmp(a->value, b->value) != 0)
            add(changes, AL_PART_REF, a ? a->name : b->name, a ? a->value : NULL,
                b ? b->value : NULL);
    }
}

static void compare_states(const struct al_saved_state *from, const struct al_saved_state *to,
                           struct al_differences *changes)
{
    const unsigned without = from->without | to->without;

    if (!(without & AL_PARTS_INDEX) && strcmp(from->entries, to->entries) != 0)
        add(changes, AL_PART_INDEX, "index", from->entries, to->entries);
    if (strcmp(from->head, to->head) != 0)
        add(changes, AL_PART_HEAD, "HEAD", from->head, to->head);
    if (!(without & AL_PARTS_REFS))
        compare_refs(from, to, changes);
    compare_files(&from->files, &to->files, false, changes);
}

/** One side of a comparison. */
struct side {
    struct al_saved_files files;
    struct al_saved_state state;
};

static void side_clear(struct side *side)
{
    al_saved_files_clear(&side->files);
    al_saved_state_clear(&side->state);
}

/* Read the files of the working tree that both checkpoints have. */
static int load_worktrees(struct al_store *store, const char *const ids[2], struct side *a,
                          struct side *b, struct al_run_limits *budget, struct al_error *err)
{
    int r;

    if ((a->state.without | b->state.without) & AL_PARTS_WORKTREE)
        return 0;
    r = al_checkpoint_worktree(store, ids[0], budget, &a->files, err);
    return r < 0 ? r : al_checkpoint_worktree(store, ids[1], budget, &b->files, err);
}

bool al_files_concern(const struct al_strv *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (al_fs_beneath(files->items[i], path) || al_fs_beneath(path, files->items[i]))
            return true;
    return false;
}

/* Whether the execution with this checkpoint before can have made a change.  A later checkpoint
 * that is not the one after it, but before another one, says nothing about it. */
static bool can_make(const struct al_saved_state *before, const struct al_saved_state *end,
                     const struct al_difference *change)
{
    const char *name = change->part == AL_PART_STASH ? "refs/stash" : change->name;

    if (change->part == AL_PART_WORKTREE)
        return before->writes_all || al_files_concern(&before->writes, change->name) ||
               (end->writes_all && al_files_concern(&end->writes, change->name));
    if (before->moves_all || change->part == AL_PART_INDEX || change->part == AL_PART_LINKED ||
        (change->part == AL_PART_STATE && strcmp(name, "config") != 0))
        return true;
    for (size_t i = 0; i < before->moves.count; i++) {
        const char *moved = before->moves.items[i];

        if (al_ends_with(moved, "/") ? al_starts_with(name, moved) : !strcmp(name, moved))
            return true;
    }
    return false;
}

/* Drop what the execution cannot have changed. */
static void keep_own(const struct al_saved_state *before, const struct al_saved_state *end,
                     struct al_differences *changes)
{
    for (size_t i = changes->count; i > 0; i--)
        if (!can_make(before, end, &changes->items[i - 1]))
            al_change_drop(changes, &changes->items[i - 1]);
}

static int compare(struct al_store *store, const char *from, const char *to, bool only_own,
                   struct al_run_limits *budget, struct al_differences *ret_changes,
                   struct al_error *err)
{
    al_auto(side_clear) struct side a = { .state = { .index = AL_STR_INIT } };
    al_auto(side_clear) struct side b = { .state = { .index = AL_STR_INIT } };
    struct al_differences changes = { .items = NULL };
    int r = al_checkpoint_state(store, from, budget, &a.state, err);

    if (r == 0)
        r = al_checkpoint_state(store, to, budget, &b.state, err);
    if (r == 0)
        r = load_worktrees(store, (const char *const[]){ from, to }, &a, &b, budget, err);
    if (r < 0)
        return r;
    compare_files(&a.files, &b.files, true, &changes);
    note_left_out(&a.state.left_out, &changes);
    changes.index_was_written = !((a.state.without | b.state.without) & AL_PARTS_INDEX) &&
                                !is_same_index(&a.state, &b.state);
    compare_states(&a.state, &b.state, &changes);
    if (only_own)
        keep_own(&a.state, &b.state, &changes);
    if (changes.count)
        qsort(changes.items, changes.count, sizeof(*changes.items), al_difference_order);
    *ret_changes = changes;
    return 0;
}

int al_checkpoint_compare(struct al_store *store, const char *from, const char *to,
                          struct al_run_limits *budget, struct al_differences *ret_changes,
                          struct al_error *err)
{
    return compare(store, from, to, false, budget, ret_changes, err);
}

int al_checkpoint_changes_of(struct al_store *store, const char *before, const char *end,
                             struct al_run_limits *budget, struct al_differences *ret_changes,
                             struct al_error *err)
{
    return compare(store, before, end, true, budget, ret_changes, err);
}
