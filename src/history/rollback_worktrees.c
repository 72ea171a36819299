// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_worktrees.h"

#include <stdlib.h>
#include <string.h>

#include "gitops/plumbing/heads.h"
#include "guard/text.h"
#include "history/rollback_plan.h"
#include "history/store.h"
#include "util/str.h"

/* A branch that another worktree has checked out. */
struct elsewhere {
    struct al_strv branches; /* full names */
    struct al_strv places;   /* in words, one for each */
};

static void elsewhere_clear(struct elsewhere *elsewhere)
{
    al_strv_clear(&elsewhere->branches);
    al_strv_clear(&elsewhere->places);
}

/* While the working trees are gone through. */
struct listing {
    struct elsewhere *elsewhere;
    const struct al_linked_changes *linked;
};

/* The HEAD of a bare repository, which has no index, is nobody's working tree. */
static bool take_head(void *payload, const struct al_head *head)
{
    const struct listing *listing = payload;
    al_auto(al_freep) char *place = head->name ? al_asprintf("the worktree '%s'", head->name)
                                               : al_strdup("the main working tree");

    if (head->is_own || !head->branch ||
        (head->name ? al_linked_will_go(listing->linked, head->name) : !head->has_index))
        return true;
    al_strv_add(&listing->elsewhere->branches, head->branch);
    al_strv_take(&listing->elsewhere->places, al_text_sanitize_line(place));
    return true;
}

/* Where a branch is checked out; NULL: in no other worktree. */
static const char *place_of(const struct elsewhere *elsewhere, const char *branch)
{
    for (size_t i = 0; i < elsewhere->branches.count; i++) {
        if (!strcmp(elsewhere->branches.items[i], branch))
            return elsewhere->places.items[i];
    }
    return NULL;
}

/* Add the references that an execution moved. */
static int add_moved(struct al_store *store, const char *before, struct al_run_limits *budget,
                     struct al_strv *ret_names, struct al_error *err)
{
    struct al_differences made = { .items = NULL };
    char after[AL_OID_TEXT];
    int r;

    if (al_checkpoint_find_after(store, before, after, NULL) < 0)
        return 0; /* interrupted: it is refused without --force */
    r = al_checkpoint_changes_of(store, before, after, budget, &made, err);
    for (size_t i = 0; r == 0 && i < made.count; i++) {
        if (made.items[i].part == AL_PART_REF)
            al_strv_add(ret_names, made.items[i].name);
    }
    al_differences_clear(&made);
    return r;
}

static int refuse(const char *name, const char *place, struct al_error *err)
{
    al_auto(al_freep) char *branch = al_text_sanitize_line(name);

    return al_error_set(err, AL_ERR_EXECUTION,
                        "the rollback would move '%s', which %s has checked out; roll back there, "
                        "or switch it to another branch first",
                        branch, place);
}

/* git lets no two worktrees have one branch checked out. */
static int check_head(const struct elsewhere *elsewhere, const struct al_difference *change,
                      struct al_error *err)
{
    static const char prefix[] = "ref: ";
    const char *name =
        change->part == AL_PART_HEAD && change->to && al_starts_with(change->to, prefix)
            ? change->to + strlen(prefix)
            : NULL;
    const char *place = name ? place_of(elsewhere, name) : NULL;
    al_auto(al_freep) char *branch = place ? al_text_sanitize_line(name) : NULL;

    if (!place)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the rollback would check out '%s', which %s has checked out; switch it "
                        "to another branch first",
                        branch, place);
}

static void drop_words(const struct al_difference *change, struct al_strv *lost)
{
    al_auto(al_freep) char *words = al_difference_words(change);
    size_t kept = 0;

    for (size_t i = 0; i < lost->count; i++) {
        if (!strcmp(lost->items[i], words))
            free(lost->items[i]);
        else
            lost->items[kept++] = lost->items[i];
    }
    lost->count = kept;
}

static void drop_change(struct al_differences *changes, size_t at)
{
    free(changes->items[at].name);
    free(changes->items[at].from);
    free(changes->items[at].to);
    memmove(&changes->items[at], &changes->items[at + 1],
            (--changes->count - at) * sizeof(*changes->items));
}

int al_rollback_leave_worktrees(struct al_store *store, const struct al_executions *executions,
                                size_t first, const struct al_linked_changes *linked,
                                struct al_run_limits *budget, struct al_differences *changes,
                                struct al_strv *lost, struct al_error *err)
{
    al_auto(elsewhere_clear) struct elsewhere elsewhere = { .branches = AL_STRV_INIT };
    al_auto(al_strv_clear) struct al_strv moved = AL_STRV_INIT;
    struct listing listing = { &elsewhere, linked };
    int r = al_git_each_head(&store->repo->at, take_head, &listing, err);

    for (size_t i = first; r == 0 && elsewhere.branches.count && i < executions->count; i++)
        r = add_moved(store, executions->items[i].before, budget, &moved, err);
    for (size_t i = 0; r == 0 && i < changes->count;) {
        const struct al_difference *change = &changes->items[i];
        const char *place = change->part == AL_PART_REF ? place_of(&elsewhere, change->name) : NULL;

        r = check_head(&elsewhere, change, err);
        if (r < 0)
            break;
        if (place && al_strv_contains(&moved, change->name))
            r = refuse(change->name, place, err);
        else if (place) {
            drop_words(change, lost);
            drop_change(changes, i);
        } else {
            i++;
        }
    }
    return r;
}
