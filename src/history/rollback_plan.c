// SPDX-License-Identifier: Apache-2.0
/*
 * The way back from what some executions changed.
 *
 * Each thing that they changed gets the value that it had before the first of them that changed it.
 * Everything else in the repository stays as it is now.
 *
 *   the value now is                    then going back
 *
 *   that of the target                  leaves it
 *   as the last execution left it       restores it
 *   another one                         would lose it: somebody else changed it since
 */
#include <stdlib.h>

#include "git/location.h"
#include "git/plumbing/gitdir.h"
#include "git/plumbing/index_scan.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "history/rollback_private.h"

#define NAMED_MAX 20u /* settings */

/* --- Changes --- */

char *al_difference_words(const struct al_difference *change)
{
    al_auto(al_freep) char *name = al_text_sanitize_line(change->name);

    switch (change->part) {
    case AL_PART_INDEX:
        return *name == '/' ? al_asprintf("%s in the index", name + 1)
                            : al_strdup("the index (what is staged)");
    case AL_PART_HEAD:
        return al_strdup("HEAD");
    case AL_PART_STASH:
        return al_strdup("the stash");
    case AL_PART_LINKED:
        return al_asprintf(al_starts_with(name, AL_LINKED_PREFIX) ? "the worktree '%s'"
                                                                  : "the lock of the worktree '%s'",
                           strrchr(name, '/') + 1);
    case AL_PART_STATE:
        return al_asprintf("%s in the git directory", name);
    case AL_PART_WORKTREE:
    case AL_PART_REF:
        break;
    }
    return al_take(&name);
}

char *al_differences_words(const struct al_differences *changes)
{
    static const char *const parts[] = {
        [AL_PART_INDEX] = "the index",   [AL_PART_HEAD] = "HEAD",
        [AL_PART_REF] = "references",    [AL_PART_STASH] = "the stash",
        [AL_PART_STATE] = "git's state", [AL_PART_LINKED] = "worktrees"
    };
    size_t files = 0, added = 0, removed = 0, seen = AL_PART_WORKTREE;
    struct al_str out = AL_STR_INIT;

    for (size_t i = 0; i < changes->count && changes->items[i].part == AL_PART_WORKTREE; i++) {
        files++;
        added += !changes->items[i].from;
        removed += !changes->items[i].to;
    }
    if (files)
        al_str_addf(&out, "%zu file%s changed", files, files == 1 ? "" : "s");
    if (added)
        al_str_addf(&out, ", %zu added", added);
    if (removed)
        al_str_addf(&out, ", %zu removed", removed);
    for (size_t i = files; i < changes->count; i++) {
        const struct al_difference *change = &changes->items[i];
        al_auto(al_freep) char *words = change->part == AL_PART_STATE && i - files < NAMED_MAX &&
                                                al_gitdir_is_setting(change->name)
                                            ? al_difference_words(change)
                                            : NULL;

        if (change->part != seen || words)
            al_str_addf(&out, "%s%s", out.len ? ", " : "", words ? words : parts[change->part]);
        seen = change->part;
    }
    return changes->count ? al_str_detach(&out) : NULL;
}

/* Append a copy. */
static void append(struct al_differences *changes, const struct al_difference *change)
{
    struct al_difference *copy = al_differences_add(changes, change->part, change->name);
    char *name = copy->name;

    *copy = *change;
    copy->name = name;
    copy->from = al_strdup(change->from);
    copy->to = al_strdup(change->to);
}

/* Let a change go the other way. */
static void turn(struct al_difference *change)
{
    const struct al_difference old = *change;

    change->from = old.to;
    change->to = old.from;
    change->from_mode = old.to_mode;
    change->to_mode = old.from_mode;
}

void al_change_add(struct al_differences *changes, const struct al_difference *change)
{
    append(changes, change);
    al_differences_sort(changes);
}

bool al_change_is_same(const char *a, unsigned a_mode, const char *b, unsigned b_mode)
{
    return a && b ? a_mode == b_mode && !strcmp(a, b) : a == b;
}

bool al_change_is_file(const struct al_difference *change)
{
    return change->part == AL_PART_WORKTREE && strcmp(change->name, ".git") != 0 &&
           !al_starts_with(change->name, ".git/") && al_path_is_plain(change->name);
}

bool al_change_has_place(const struct al_difference *change)
{
    return change && change->to &&
           (change->part == AL_PART_WORKTREE || al_ends_with(change->to, " 0\n"));
}

/* --- Values --- */

int al_way_read_blob(const struct al_way *way, const char *oid, struct al_str *ret_text,
                     struct al_error *err)
{
    return oid ? al_store_read_blobs(way->store, &oid, 1, ret_text, err) : 0;
}

/* --- All executions together --- */

/** One thing that executions changed, whose texts are theirs. */
struct item {
    struct al_difference change; /* first, as al_difference_order() compares it; from the value that
                                    the last of them left, to the target's */
    size_t first;                /* the first of the executions that changed it */
    bool stays;    /* nothing but what is known of a remote changed it, and that is left so */
    bool is_users; /* a program changed how git works: see is_users() */
    bool yields;   /* the target has it, and also a directory in its place or a file above it */
    bool has_gap;  /* of the index: somebody else changed it in between, not to the target's */
};

struct items {
    struct item *items; /* in the order of al_difference_order() */
    size_t count;
};

static void items_clear(struct items *items)
{
    free(items->items);
}

/* Whether an agent's undo leaves a change: a program, or somebody while it ran, has changed the
 * configuration, a hook, or what is ignored.  A user may have taken away what the agent had planted
 * before, and airlock must not write that once more. */
static bool is_users(const struct al_way *way, const struct al_execution *execution,
                     const struct al_difference *change)
{
    const struct al_saved *saved;

    return way->is_agents && change->part == AL_PART_STATE && al_gitdir_is_setting(change->name) &&
           (!al_starts_with(change->name, "config") ||
            (!execution->input &&
             (execution->held_no_lock || strcmp(execution->tool, "git") != 0) &&
             (al_checkpoint_load(way->store, execution->before, false, &saved, NULL) < 0 ||
              saved->moves_all)));
}

/* A further change: the execution leaves another value. */
static int go_on(struct al_way *way, struct item *item, const struct item *next,
                 struct al_error *err)
{
    const struct al_difference *change = &next->change;
    int r = 0;

    item->is_users |= next->is_users;
    if (item->is_users)
        return 0;
    if (item->stays) {
        *item = *next;
        return 0;
    }
    if (!al_change_is_same(item->change.from, item->change.from_mode, change->to,
                           change->to_mode)) {
        item->has_gap |= !al_change_is_same(change->to, 0, item->change.to, 0);
        if (change->part != AL_PART_INDEX || *change->name == '/')
            r = al_obstacles_others(way, &item->change, change->to, change->to_mode, err);
    }
    item->change.from = change->from;
    item->change.from_mode = change->from_mode;
    return r;
}

/* Order by thing, then by execution. */
static int by_thing(const void *a, const void *b)
{
    const struct item *one = a, *two = b;
    const int order = al_difference_order(&one->change, &two->change);

    return order ? order : (one->first > two->first) - (one->first < two->first);
}

static struct item *find_item(const struct items *items, enum al_part part, const char *name)
{
    const struct al_difference key = { .part = part, .name = (char *)(uintptr_t)name };

    return items->count ? bsearch(&key, items->items, items->count, sizeof(*items->items),
                                  al_difference_order)
                        : NULL;
}

/* Two files of the target, or two entries, may have come from different times, one where the other
 * needs a directory.  The one that was there before the earlier execution comes back. */
static void resolve_conflict(const struct items *items, struct item *item)
{
    al_auto(al_freep) char *part = al_strdup(item->change.name);

    for (char *slash = strchr(part, '/'); slash && al_change_has_place(&item->change);
         slash = strchr(slash + 1, '/')) {
        struct item *above;

        *slash = '\0';
        above = find_item(items, item->change.part, part);
        *slash = '/';
        if (above && al_change_has_place(&above->change)) {
            struct item *loser = above->first < item->first ? item : above;

            loser->change.to = NULL;
            loser->change.to_mode = 0;
            loser->yields = true;
        }
    }
}

/* Find what the executions changed together; with `entries`, of the index. */
static int collect(struct al_way *way, bool entries, struct items *items, struct al_error *err)
{
    size_t count = 0;
    int r = 0;

    for (size_t i = way->plan.oldest; i < way->plan.end; i++) {
        const struct al_execution *execution = &way->executions.items[i];
        const struct al_differences *changes = entries ? &execution->entries : &execution->changes;

        items->items =
            al_reallocarray(items->items, count + changes->count + 1, sizeof(*items->items));
        for (size_t k = 0; k < changes->count; k++) {
            struct item *item = &items->items[count++];

            *item = (struct item){ .change = changes->items[k], .first = i };
            item->stays = al_execution_tells_of_remote(execution, &item->change);
            item->is_users = is_users(way, execution, &item->change);
            turn(&item->change);
        }
    }
    if (count)
        qsort(items->items, count, sizeof(*items->items), by_thing);
    for (size_t i = 0; i < count; i++) {
        struct item *last = items->count ? &items->items[items->count - 1] : NULL;

        if (!last || al_difference_order(&last->change, &items->items[i].change) != 0)
            items->items[items->count++] = items->items[i];
        else if (r == 0)
            r = go_on(way, last, &items->items[i], err);
    }
    for (size_t i = 0; i < items->count; i++)
        resolve_conflict(items, &items->items[i]);
    return r;
}

/* Whether it goes with a whole worktree that an execution before added, or stays with one that was
 * moved. */
static bool is_of_linked(const struct al_way *way, const struct items *items,
                         const struct al_difference *change)
{
    al_auto(al_freep) char *path = al_fs_join(way->repo->at.top, change->name);
    bool is = false;

    for (size_t i = 0; i < way->linked.count; i++) {
        const char *name = way->linked.items[i];
        const struct item *linked = find_item(items, AL_PART_LINKED, name);

        if (change->part == AL_PART_STATE && al_starts_with(name, AL_LINKED_MOVED_PREFIX))
            is |= al_starts_with(change->name, "worktrees/");
        else if (change->part == AL_PART_WORKTREE && linked &&
                 !al_starts_with(name, AL_LINKED_LOCK_PREFIX) &&
                 al_linked_is_none(linked->change.to, way->store->sha256))
            is |= al_fs_beneath(strchr(name, '/'), path) != NULL;
    }
    return is;
}

/* --- Entries of the index --- */

struct reading {
    struct al_differences *values;
    bool sha256;
};

static void add_entry(struct reading *reading, const struct al_index_entry *entry)
{
    al_auto(al_freep) char *name = al_asprintf("/%s", entry->name), *before = NULL;
    struct al_difference *last =
        reading->values->count ? &reading->values->items[reading->values->count - 1] : NULL;
    char text[AL_OID_TEXT];

    al_oid_text(&entry->oid, reading->sha256, text);
    if (!last || strcmp(last->name, name) != 0)
        last = al_differences_add(reading->values, AL_PART_INDEX, name);
    before = last->to;
    last->to =
        al_asprintf("%s%c%c%c %06o %s %u\n", before ? before : "", entry->skip_worktree ? 's' : '-',
                    entry->assume_unchanged ? 'a' : '-', entry->intent_to_add ? 'n' : '-',
                    (unsigned)entry->mode, text, entry->stage);
}

/* Two entries that are the same make no change: of a name that has only one. */
static void add_pair(void *payload, const struct al_index_entry *from,
                     const struct al_index_entry *to)
{
    struct reading *sides = payload;

    if (from && to && !from->stage && !to->stage && from->mode == to->mode &&
        al_oid_equal(&from->oid, &to->oid) && from->skip_worktree == to->skip_worktree &&
        from->assume_unchanged == to->assume_unchanged && from->intent_to_add == to->intent_to_add)
        return;
    if (from)
        add_entry(&sides[0], from);
    if (to)
        add_entry(&sides[1], to);
}

/* The changes of entries between two indexes, "": there is none.  False: they cannot be told, since
 * some are in another file, or stand for directories. */
static bool compare_entries(const struct al_way *way, const struct al_str *from,
                            const struct al_str *to, struct al_differences *changes)
{
    al_auto(al_differences_clear) struct al_differences now = { .items = NULL };
    al_auto(al_differences_clear) struct al_differences then = { .items = NULL };
    struct reading sides[] = { { &now, way->store->sha256 }, { &then, way->store->sha256 } };
    const struct al_str *const indexes[] = { from, to };
    struct al_index_scan scans[AL_COUNT(indexes)];
    bool known;

    for (size_t i = 0; i < AL_COUNT(scans); i++)
        al_index_begin_bytes(&scans[i], indexes[i]->len ? indexes[i]->buf : NULL, indexes[i]->len,
                             al_oid_bytes(way->store->sha256));
    known = al_index_compare(&scans[0], &scans[1], add_pair, sides);
    if (known)
        al_values_compare(&now, &then, 0, changes);
    return known;
}

/* git writes an index anew when it has looked at the files, the index of a linked worktree too:
 * with the same entries that is no change. */
static bool has_same_entries(const struct al_way *way, const struct al_difference *now,
                             const struct al_difference *left)
{
    al_auto(al_differences_clear) struct al_differences changes = { .items = NULL };
    al_auto(al_str_clear) struct al_str index = AL_STR_INIT, other = AL_STR_INIT;

    if (now->part != AL_PART_STATE || !al_starts_with(now->name, "worktrees/") ||
        !al_ends_with(now->name, "/index") || !now->from || !left->from ||
        al_way_read_blob(way, now->from, &index, NULL) < 0 ||
        al_way_read_blob(way, left->from, &other, NULL) < 0)
        return false;
    return compare_entries(way, &index, &other, &changes) && !changes.count;
}

static int add_way(struct al_way *way, const struct items *items, const struct al_differences *now,
                   struct al_differences *changes, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < items->count && r == 0; i++) {
        const struct item *item = &items->items[i];
        struct al_difference change = item->change;
        const struct al_difference *found = al_change_find(now, change.part, change.name);

        /* A checkpoint from before a program ran says nothing of a worktree that was not there. */
        if (found && change.part == AL_PART_LINKED && !change.to &&
            al_linked_is_none(found->to, way->store->sha256))
            found = NULL;
        change.from = found ? found->to : NULL;
        change.from_mode = found ? found->to_mode : 0;
        if (change.part == AL_PART_LINKED && al_starts_with(change.name, AL_LINKED_MOVED_PREFIX))
            al_strv_addf(&way->report->left, "the worktree '%s', which was moved",
                         strrchr(change.name, '/') + 1);
        /* The shared part of a split index is git's to remove: some index may need it. */
        if (item->stays || (!change.to && al_change_is_shared_index(&change)) ||
            is_of_linked(way, items, &change) ||
            al_change_is_same(change.from, change.from_mode, change.to, change.to_mode))
            continue;
        if (item->is_users) {
            al_strv_take(&way->report->settings, al_difference_words(&change));
            continue;
        }
        append(changes, &change);
        if (way->plan.resumes || (change.part == AL_PART_INDEX && *change.name != '/'))
            continue;
        if (item->yields)
            al_strv_take(&way->report->lost, al_difference_words(&item->change));
        else if (!al_change_is_same(change.from, change.from_mode, item->change.from,
                                    item->change.from_mode) &&
                 !has_same_entries(way, &change, &item->change))
            r = al_obstacles_others(way, &item->change, change.from, change.from_mode, err);
    }
    al_obstacles_in_the_way(way, now, changes);
    return r;
}

/* Read the changes of entries that an execution made. */
static bool find_changed(const struct al_way *way, struct al_execution *execution)
{
    const struct al_saved *before, *after;

    return !al_change_find(&execution->changes, AL_PART_INDEX, "index") ||
           (al_checkpoint_load_index(way->store, execution->before, false, &before, NULL) == 0 &&
            al_checkpoint_load_index(way->store, execution->after, false, &after, NULL) == 0 &&
            compare_entries(way, &before->index, &after->index, &execution->entries));
}

/* Go back entry by entry, 1: somebody else has changed others.  0: that cannot be done. */
static int find_entries(struct al_way *way, struct al_error *err)
{
    al_auto(items_clear) struct items items = { .items = NULL };
    al_auto(al_differences_clear) struct al_differences now = { .items = NULL };
    bool found = compare_entries(way, &AL_STR_INIT, &way->from->index, &now);
    int r = 0;

    for (size_t i = way->plan.oldest; found && i < way->plan.end; i++)
        found = find_changed(way, &way->executions.items[i]);
    if (found)
        r = collect(way, true, &items, err);
    if (r == 0 && found)
        r = add_way(way, &items, &now, &way->entries, err);
    for (size_t i = 0; i < way->entries.count; i++)
        for (const char *line = way->entries.items[i].to; line && *line;
             line = strchr(line, '\n') + 1)
            found &= line[2] != 'n'; /* of which only the name is staged: it needs its file */
    return r < 0 ? r : found;
}

/* The first execution that moved HEAD, or the branch that HEAD names in the target; `otherwise`
 * when none did before it.  A move is undone with what was staged after it, so the commits that it
 * left and comes back to are nobody else's. */
static size_t first_move(const struct al_way *way, const struct items *items, size_t otherwise)
{
    const struct item *moves[] = { find_item(items, AL_PART_HEAD, "HEAD"), NULL };
    const char *value = moves[0] ? moves[0]->change.to
                                 : al_change_find(&way->from->values, AL_PART_HEAD, "HEAD")->to;

    if (value && al_starts_with(value, "ref: "))
        moves[1] = find_item(items, AL_PART_REF, value + strlen("ref: "));
    for (size_t i = 0; i < AL_COUNT(moves); i++)
        if (moves[i] && moves[i]->first < otherwise)
            otherwise = moves[i]->first;
    return otherwise;
}

/* Find the index that comes back as a whole: that of the oldest checkpoint with these entries.  git
 * rewrites an index without changing its entries, too. */
static int find_whole(struct al_way *way, const char *entries, struct al_error *err)
{
    int r = 0;

    for (size_t i = way->plan.oldest; r == 0 && !way->index && i < way->plan.end; i++) {
        const struct al_execution *execution = &way->executions.items[i];
        const struct al_saved *saved;

        if (!execution->changes.index_was_written)
            continue;
        r = al_checkpoint_load(way->store, execution->before, false, &saved, err);
        if (r == 0 && !strcmp(al_change_find(&saved->values, AL_PART_INDEX, "index")->to, entries))
            r = al_checkpoint_load_index(way->store, execution->before, true, &way->index, err);
    }
    return r;
}

/* The index goes back as a whole, unless somebody else has changed it since. */
static int find_index(struct al_way *way, const struct items *items, struct al_error *err)
{
    const struct item *item = find_item(items, AL_PART_INDEX, "index");
    const char *now = al_change_find(&way->from->values, AL_PART_INDEX, "index")->to;
    struct al_difference *change = al_change_find(&way->changes, AL_PART_INDEX, "index");
    const bool is_others =
        item && (item->has_gap || (change && strcmp(item->change.from, now) != 0));
    int r = 0;

    if (change || al_change_find(&way->changes, AL_PART_HEAD, "HEAD")) {
        const size_t first = first_move(way, items, item ? item->first : way->plan.end);

        memcpy(way->staged_of, way->executions.items[first].before, AL_OID_TEXT);
    }
    if (is_others)
        r = find_entries(way, err);
    if (r == 1 && change && !way->entries.count)
        al_change_drop(&way->changes, change);
    if (r != 0)
        return r < 0 ? r : 0;
    al_differences_clear(&way->entries);
    if (is_others && !way->plan.resumes)
        al_strv_take(&way->report->lost, al_difference_words(&item->change));
    r = find_whole(way, item ? item->change.to : now, err);
    /* These entries are only looked at. */
    if (r == 0 && way->index)
        (void)compare_entries(way, &way->from->index, &way->index->index, &way->entries);
    return r;
}

/* --- The way back --- */

/* A rollback that goes on after it was killed: changes since it began are somebody else's. */
static int check_since_begun(struct al_way *way, struct al_error *err)
{
    al_auto(al_differences_clear) struct al_differences others = { .items = NULL };
    const char *begun = way->executions.items[way->plan.end].before;
    int r = al_checkpoint_changes_of(way->store, begun, way->present, &others, err);

    for (size_t i = 0; r == 0 && i < way->changes.count; i++) {
        const struct al_difference *change = &way->changes.items[i];

        if (al_change_find(&others, change->part, change->name))
            r = al_obstacles_others(way, change, change->from, change->from_mode, err);
    }
    return r;
}

int al_way_find(struct al_way *way, struct al_error *err)
{
    al_auto(items_clear) struct items items = { .items = NULL };
    int r = al_checkpoint_load_files(way->store, way->present, true, &way->from, err);

    if (r == 0)
        r = al_checkpoint_load_index(way->store, way->present, true, &way->from, err);
    al_stash_owners_read(way->repo, &way->owners);
    /* One that was interrupted may have made every change since the checkpoint before it that its
     * operation can make. */
    for (size_t i = way->plan.oldest; r == 0 && i < way->plan.end; i++)
        r = al_execution_read_end(way, i, way->plan.end, err);
    if (r == 0)
        r = collect(way, false, &items, err);
    if (r == 0)
        r = add_way(way, &items, &way->from->values, &way->changes, err);
    if (r == 0 && way->plan.resumes)
        r = check_since_begun(way, err);
    if (r == 0)
        r = find_index(way, &items, err);
    return r < 0 ? r : al_obstacles_stash(way, err);
}

int al_way_to(struct al_way *way, const char *before, const struct al_strv *files,
              struct al_error *err)
{
    struct al_differences *changes = &way->changes;
    int r = al_checkpoint_load_index(way->store, way->present, true, &way->from, err);

    if (r == 0)
        r = al_checkpoint_changes_of(way->store, before, way->present, changes, err);
    for (size_t i = changes->count; i > 0; i--) {
        struct al_difference *change = &changes->items[i - 1];

        turn(change);
        if (change->part == AL_PART_WORKTREE
                ? files && !al_strv_contains_sorted(files, change->name)
                : al_gitdir_is_setting(change->name) && !al_starts_with(change->name, "config"))
            al_change_drop(changes, change);
    }
    return r == 0 && changes->index_was_written
               ? al_checkpoint_load_index(way->store, before, true, &way->index, err)
               : r;
}

/* Append what a checkpoint of the present has to say about linked worktrees: an execution that was
 * interrupted may have changed everything that its checkpoint has. */
static int add_linked(struct al_way *way, const struct al_execution *execution,
                      struct al_error *err)
{
    const struct al_differences *things = &execution->changes;
    const struct al_saved *saved;
    int r = 0;

    if (!execution->has_after) {
        r = al_checkpoint_load(way->store, execution->before, false, &saved, err);
        things = r == 0 ? &saved->values : things;
    }
    for (size_t i = al_change_at(things, AL_PART_LINKED, ""); i < things->count; i++)
        if (!al_strv_contains(&way->linked, things->items[i].name))
            al_strv_add(&way->linked, things->items[i].name);
    return r;
}

int al_way_read_executions(struct al_way *way, struct al_error *err)
{
    bool needs_files = false;
    int r = 0;

    for (size_t i = way->plan.oldest; r == 0 && i < way->plan.end; i++) {
        struct al_execution *execution = &way->executions.items[i];

        r = al_execution_read(way->store, execution, err);
        if (r == 0)
            r = add_linked(way, execution, err);
        /* Files come first in the order. */
        needs_files |=
            !execution->has_after ||
            (execution->changes.count && execution->changes.items[0].part == AL_PART_WORKTREE);
    }
    way->without = needs_files ? 0 : AL_PARTS_WORKTREE;
    return r;
}

void al_way_clear(struct al_way *way)
{
    al_executions_clear(&way->executions);
    al_strv_clear(&way->linked);
    al_differences_clear(&way->changes);
    al_differences_clear(&way->entries);
    al_stash_owners_clear(&way->owners);
    for (size_t i = 0; i < way->nworktrees; i++) {
        struct al_linked_change *change = &way->worktrees[i];

        free(change->from);
        free(change->to);
        al_str_clear(&change->text);
        al_worktree_place_clear(&change->place);
        al_worktree_found_clear(&change->found);
    }
    free(way->worktrees);
    al_pending_checkpoint_free(way->pending);
    al_close(way->top_fd);
    al_close(way->git_fd);
    al_close(way->common_fd);
}
