// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_touched.h"

#include <stdlib.h>
#include <string.h>

#include "history/rollback_lockfile.h"

void al_touched_clear(struct al_touched *touched)
{
    for (size_t i = 0; i < touched->count; i++)
        al_differences_clear(&touched->each[i]);
    free(touched->each);
    free(touched->interrupted);
    *touched = (struct al_touched){ .each = NULL };
}

/* Whether a change removed a temporary file of a rollback that was killed.  The one that went on
 * did that, and nobody wants it back. */
static bool is_leftover(const struct al_difference *change)
{
    static const char begin[] = ".airlock-";
    const char *slash = strrchr(change->name, '/');
    const char *name = slash ? slash + 1 : change->name;

    return change->part == AL_PART_WORKTREE && !change->to && al_starts_with(name, begin) &&
           strspn(name + strlen(begin), "0123456789abcdef") == AL_LOCK_TOKEN - 1 &&
           strlen(name) == strlen(begin) + AL_LOCK_TOKEN - 1;
}

static void drop_leftovers(struct al_differences *changes)
{
    size_t kept = 0;

    for (size_t i = 0; i < changes->count; i++) {
        struct al_difference *change = &changes->items[i];

        if (!is_leftover(change)) {
            changes->items[kept++] = *change;
            continue;
        }
        free(change->name);
        free(change->from);
    }
    changes->count = kept;
}

int al_touched_read(struct al_store *store, const struct al_executions *executions,
                    const struct al_plan *plan, struct al_run_limits *budget,
                    struct al_touched *ret_touched, struct al_error *err)
{
    al_auto(al_touched_clear) struct al_touched touched = { .executions = executions,
                                                            .first = plan->oldest };
    int r = 0;

    touched.count = plan->end - plan->oldest;
    touched.each = al_calloc(touched.count + 1, sizeof(*touched.each));
    touched.interrupted = al_calloc(touched.count + 1, sizeof(*touched.interrupted));
    for (size_t i = 0; i < touched.count && r == 0; i++) {
        const char *before = executions->items[plan->oldest + i].before;
        char after[AL_OID_TEXT];

        touched.interrupted[i] = al_checkpoint_find_after(store, before, after, NULL) < 0;
        if (!touched.interrupted[i])
            r = al_checkpoint_changes_of(store, before, after, budget, &touched.each[i], err);
        if (executions->items[plan->oldest + i].input)
            drop_leftovers(&touched.each[i]);
    }
    if (r < 0)
        return r;
    *ret_touched = touched;
    touched = (struct al_touched){ .each = NULL };
    return 0;
}

static bool has_file(const struct al_saved_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (!strcmp(files->items[i].path, path))
            return true;
    return false;
}

/* Whether one state tells of every linked worktree that another one tells of. */
static bool has_linked_of(const struct al_saved_state *state, const struct al_saved_state *other)
{
    for (size_t i = 0; i < other->files.count; i++)
        if (al_starts_with(other->files.items[i].path, "linked") &&
            !has_file(&state->files, other->files.items[i].path))
            return false;
    return true;
}

bool al_touched_has_parts(struct al_store *store, const char *id, const char *other,
                          struct al_run_limits *budget)
{
    struct al_saved_state states[2] = { { .index = AL_STR_INIT }, { .index = AL_STR_INIT } };
    bool has = al_checkpoint_state(store, id, budget, &states[0], NULL) == 0 &&
               al_checkpoint_state(store, other, budget, &states[1], NULL) == 0 &&
               !(states[0].without & ~states[1].without) && has_linked_of(&states[0], &states[1]);

    al_saved_state_clear(&states[0]);
    al_saved_state_clear(&states[1]);
    return has;
}

unsigned al_touched_without(const struct al_touched *touched)
{
    bool needs = false;

    for (size_t i = 0; i < touched->count; i++) {
        const struct al_differences *changes = &touched->each[i];

        /* Files come first in the order. */
        needs |= touched->interrupted[i] ||
                 (changes->count && changes->items[0].part == AL_PART_WORKTREE);
    }
    return needs ? 0 : AL_PARTS_WORKTREE;
}
