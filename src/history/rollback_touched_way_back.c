// SPDX-License-Identifier: Apache-2.0
/* The way back from the changes of some executions. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gitops/oid.h"
#include "history/rollback_present.h"
#include "history/rollback_touched.h"
#include "history/store.h"

/** One thing that executions changed. */
struct item {
    struct al_difference change; /* from the value that the last of them left, to the target's */
    size_t first;                /* the first of the executions that changed it */
    bool stays;  /* nothing but what is known of a remote changed it, and that is left so */
    bool yields; /* the target has it, and also a directory in its place or a file above it */
};

struct items {
    struct item *items; /* in the order of al_difference_order() */
    size_t count;
};

/** A search for the way back. */
struct search {
    struct al_store *store;
    struct al_run_limits *budget;
    const struct al_plan *plan;
    const struct al_execution *executions; /* the first of those that are undone */
    struct al_strv *lost;
    struct al_oid_set named; /* digests of what is in `lost` */
    struct al_stash_owners owners;
};

static void search_clear(struct search *search)
{
    al_stash_owners_clear(&search->owners);
    al_oid_set_clear(&search->named);
}

/* The state that an interrupted execution left, as far as it is known: that before a later one, or
 * the present.  What later ones changed is theirs. */
static const char *end_of(struct search *search, const struct al_touched *touched, size_t which,
                          const char *present)
{
    const struct al_execution *items = touched->executions->items + touched->first;

    for (size_t i = which + 1; i < touched->count; i++)
        if (al_touched_has_parts(search->store, items[i].before, items[which].before,
                                 search->budget))
            return items[i].before;
    return present;
}

/* An execution that was interrupted may have made every change since the checkpoint before it that
 * its operation can make. */
static int read_interrupted(struct search *search, struct al_touched *touched, const char *present,
                            struct al_error *err)
{
    const struct al_execution *items = touched->executions->items + touched->first;
    int r = 0;

    for (size_t i = 0; i < touched->count && r == 0; i++)
        if (touched->interrupted[i])
            r = al_checkpoint_changes_of(search->store, items[i].before,
                                         end_of(search, touched, i, present), search->budget,
                                         &touched->each[i], err);
    return r;
}

/* --- All of them together --- */

static void item_clear(struct item *item)
{
    free(item->change.name);
    free(item->change.from);
    free(item->change.to);
}

static void items_clear(struct items *items)
{
    for (size_t i = 0; i < items->count; i++)
        item_clear(&items->items[i]);
    free(items->items);
}

static bool is_same(const char *a, unsigned a_mode, const char *b, unsigned b_mode)
{
    return a && b ? a_mode == b_mode && !strcmp(a, b) : a == b;
}

/* Several gaps may have the same change.  It is listed once. */
static void add_lost(struct search *search, const struct al_difference *change)
{
    al_auto(al_freep) char *words = al_difference_words(change);
    struct al_oid digest;

    al_oid_of(true, AL_OBJECT_BLOB, words, strlen(words), &digest);
    if (al_oid_set_add(&search->named, &digest))
        al_strv_add(search->lost, words);
}

/* Somebody else gave a thing the value `now`.  It is lost unless the target has it, too. */
static int check_others(struct search *search, const struct item *item, const char *now,
                        unsigned now_mode, struct al_error *err)
{
    struct al_difference change = item->change;
    const char *left = change.from == now ? NULL : change.from;
    bool loses = true;
    int r = 0;

    change.from = (char *)(uintptr_t)now;
    change.from_mode = now_mode;
    if (is_same(change.from, change.from_mode, change.to, change.to_mode))
        return 0;
    if (change.part == AL_PART_STASH)
        r = al_stash_log_loses(search->store, &search->owners, &change, left, search->budget,
                               &loses, err);
    /* Where worktrees share a stash, the log tells whose entries there are. */
    if (change.part == AL_PART_REF && !strcmp(change.name, "refs/stash"))
        loses = !search->owners.is_shared;
    if (r == 0 && loses)
        add_lost(search, &change);
    return r;
}

/* The first change of a thing by an execution: its `from` is the target's value. */
static struct item new_item(const struct al_difference *change, size_t execution, bool stays)
{
    return (struct item){ .first = execution,
                          .stays = stays,
                          .change = { .part = change->part,
                                      .name = al_strdup(change->name),
                                      .from_mode = change->to_mode,
                                      .to_mode = change->from_mode,
                                      .from = al_strdup(change->to),
                                      .to = al_strdup(change->from),
                                      .was_left_out = change->was_left_out } };
}

/* A further change: the execution leaves another value. */
static int go_on(struct search *search, struct item *item, const struct al_difference *change,
                 size_t execution, bool stays, struct al_error *err)
{
    int r = 0;

    if (item->stays) {
        item_clear(item);
        *item = new_item(change, execution, stays);
        return 0;
    }
    if (!is_same(item->change.from, item->change.from_mode, change->from, change->from_mode))
        r = check_others(search, item, change->from, change->from_mode, err);
    free(item->change.from);
    item->change.from = al_strdup(change->to);
    item->change.from_mode = change->to_mode;
    return r;
}

/* Merge the changes of the next execution in.  Both lists are in order. */
static int merge(struct search *search, struct items *items, const struct al_differences *changes,
                 size_t execution, struct al_error *err)
{
    struct item *merged = al_calloc(items->count + changes->count + 1, sizeof(*merged));
    const struct al_execution *made_by = search->executions + execution;
    size_t i = 0, k = 0, count = 0;
    int r = 0;

    while (i < items->count || k < changes->count) {
        int order = i == items->count ? 1
                    : k == changes->count
                        ? -1
                        : al_difference_order(&items->items[i].change, &changes->items[k]);

        bool stays = order >= 0 && al_plan_tells_of_remote(made_by, &changes->items[k]);

        merged[count] =
            order <= 0 ? items->items[i++] : new_item(&changes->items[k], execution, stays);
        if (order == 0 && r == 0)
            r = go_on(search, &merged[count], &changes->items[k], execution, stays, err);
        k += order >= 0;
        count++;
    }
    free(items->items);
    *items = (struct items){ merged, count };
    return r;
}

static struct item *find_item(const struct items *items, enum al_part part, const char *name)
{
    const struct al_difference key = { .part = part, .name = (char *)(uintptr_t)name };

    return bsearch(&key, items->items, items->count, sizeof(*items->items), al_difference_order);
}

static void yield(struct item *item)
{
    free(al_take(&item->change.to));
    item->change.to_mode = 0;
    item->yields = true;
}

/* Two files of the target may have come from different times, one where the other needs a
 * directory.  The one that was there before the earlier execution comes back. */
static void resolve_conflict(const struct items *items, struct item *item)
{
    al_auto(al_freep) char *part = al_strdup(item->change.name);

    for (char *slash = strchr(part, '/'); slash && item->change.to;
         slash = strchr(slash + 1, '/')) {
        struct item *above;

        *slash = '\0';
        above = find_item(items, AL_PART_WORKTREE, part);
        *slash = '/';
        if (above && above->change.to)
            yield(above->first < item->first ? item : above);
    }
}

static void resolve_conflicts(struct items *items)
{
    for (size_t i = 0; i < items->count; i++)
        if (items->items[i].change.part == AL_PART_WORKTREE && items->items[i].change.to)
            resolve_conflict(items, &items->items[i]);
}

/* --- The way back --- */

static void add_change(struct al_differences *changes, const struct item *item, const char *now,
                       unsigned now_mode)
{
    const struct al_difference *change = &item->change;

    changes->items = al_reallocarray(changes->items, changes->count + 1, sizeof(*changes->items));
    changes->items[changes->count++] = (struct al_difference){
        .part = change->part,
        .name = al_strdup(change->name),
        .from_mode = now_mode,
        .to_mode = change->to_mode,
        .from = al_strdup(now),
        .to = al_strdup(change->to),
        .was_left_out = change->was_left_out,
    };
}

/* The shared part of a split index is git's to remove: some index may need it. */
static bool stays(const struct al_difference *change)
{
    return change->part == AL_PART_STATE && !change->to &&
           al_starts_with(change->name, "sharedindex.");
}

static int add_way(struct search *search, const struct items *items,
                   const struct al_present *present, struct al_differences *ret_changes,
                   struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < items->count && r == 0; i++) {
        const struct item *item = &items->items[i];
        unsigned mode = 0;
        const char *now = al_present_value(present, &item->change, &mode);

        if (item->stays || is_same(now, mode, item->change.to, item->change.to_mode) ||
            stays(&item->change))
            continue;
        add_change(ret_changes, item, now, mode);
        if (item->yields && !search->plan->resumes)
            add_lost(search, &item->change);
        else if (!search->plan->resumes &&
                 !is_same(now, mode, item->change.from, item->change.from_mode))
            r = check_others(search, item, now, mode, err);
    }
    return r;
}

/* A rollback that goes on after it was killed: changes since it began are somebody else's. */
static int check_since_begun(struct search *search, const struct al_touched *touched,
                             const char *present, const struct al_differences *changes,
                             struct al_error *err)
{
    struct al_differences others = { .items = NULL };
    const struct al_execution *begun = &touched->executions->items[search->plan->first];
    int r =
        al_checkpoint_compare(search->store, begun->before, present, search->budget, &others, err);

    for (size_t i = 0; r == 0 && i < changes->count && others.count; i++) {
        const struct al_difference *change = &changes->items[i];
        const struct item item = { .change = *change };

        if (bsearch(change, others.items, others.count, sizeof(*change), al_difference_order))
            r = check_others(search, &item, change->from, change->from_mode, err);
    }
    al_differences_clear(&others);
    return r;
}

/* Whether a checkpoint has these entries in its index. */
static int has_entries(struct search *search, const char *id, const char *entries, bool *ret_has,
                       struct al_error *err)
{
    struct al_saved_state state = { .index = AL_STR_INIT };
    int r = al_checkpoint_state(search->store, id, search->budget, &state, err);

    *ret_has = r == 0 && !strcmp(state.entries, entries);
    al_saved_state_clear(&state);
    return r;
}

/* The first execution that moved HEAD, or the branch that HEAD names in the target; `otherwise`
 * when none did before it.  A move is undone with what was staged after it, so the commits that it
 * left and comes back to are nobody else's. */
static size_t first_move(const struct items *items, const struct al_present *present,
                         size_t otherwise)
{
    const struct item *head = find_item(items, AL_PART_HEAD, "HEAD"), *branch = NULL;
    const char *value = head ? head->change.to : present->state.head;
    size_t first = otherwise;

    if (value && al_starts_with(value, "ref: "))
        branch = find_item(items, AL_PART_REF, value + strlen("ref: "));
    if (head && head->first < first)
        first = head->first;
    if (branch && branch->first < first)
        first = branch->first;
    return first;
}

/* Find the checkpoint whose index comes back: the oldest one that has the entries of the target.
 * git rewrites an index without changing its entries, too; then the present's are the target's. */
static int find_index(struct search *search, const struct al_touched *touched,
                      const struct items *items, const struct al_present *present,
                      struct al_way_back *way, struct al_error *err)
{
    const char *entries = present->state.entries;
    bool found = false;
    int r = 0;

    for (size_t i = 0; i < items->count; i++) {
        const struct item *item = &items->items[i];

        if (item->change.part != AL_PART_INDEX)
            continue;
        entries = item->change.to;
        if (strcmp(present->state.entries, entries) != 0)
            memcpy(
                way->staged_of,
                touched->executions->items[touched->first + first_move(items, present, item->first)]
                    .before,
                AL_OID_TEXT);
    }
    for (size_t i = 0; r == 0 && !found && i < touched->count; i++) {
        const char *before = touched->executions->items[touched->first + i].before;

        if (touched->each[i].index_was_written)
            r = has_entries(search, before, entries, &found, err);
        if (found)
            memcpy(way->index_of, before, strlen(before) + 1);
    }
    return r;
}

static int find_way(struct search *search, struct al_touched *touched, const char *id,
                    const struct al_present *present, struct al_way_back *way, struct al_error *err)
{
    al_auto(items_clear) struct items items = { .items = NULL };
    int r = 0;

    for (size_t i = 0; i < touched->count && r == 0; i++)
        r = merge(search, &items, &touched->each[i], i, err);
    resolve_conflicts(&items);
    if (r == 0)
        r = add_way(search, &items, present, &way->changes, err);
    if (r == 0)
        r = al_present_add_stash_ref(search->store, present, &way->changes, search->budget, err);
    if (r == 0)
        al_present_add_obstacles(present, &way->changes,
                                 search->plan->resumes ? NULL : search->lost);
    if (r == 0 && search->plan->resumes)
        r = check_since_begun(search, touched, id, &way->changes, err);
    return r < 0 ? r : find_index(search, touched, &items, present, way, err);
}

int al_touched_way_back(struct al_store *store, struct al_touched *touched,
                        const struct al_plan *plan, const char *present,
                        struct al_run_limits *budget, struct al_way_back *ret_way,
                        struct al_strv *ret_lost, struct al_error *err)
{
    al_auto(search_clear) struct search search = {
        .store = store,
        .budget = budget,
        .plan = plan,
        .executions = touched->executions->items + touched->first,
        .lost = ret_lost,
    };
    al_auto(al_present_clear) struct al_present now = AL_PRESENT_INIT;
    al_auto(al_way_back_clear) struct al_way_back way = { .index_of = "" };
    int r = al_present_read(store, present, budget, &now, err);

    al_stash_owners_read(store->repo, &search.owners);
    if (r == 0)
        r = read_interrupted(&search, touched, present, err);
    if (r == 0)
        r = find_way(&search, touched, present, &now, &way, err);
    if (r < 0)
        return r;
    *ret_way = way;
    way = (struct al_way_back){ .index_of = "" };
    return 0;
}
