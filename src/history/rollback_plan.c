// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard/text.h"
#include "history/linked.h"

char *al_difference_words(const struct al_difference *change)
{
    switch (change->part) {
    case AL_PART_INDEX:
        return al_strdup("the index (what is staged)");
    case AL_PART_HEAD:
        return al_strdup("HEAD");
    case AL_PART_STASH:
        return al_strdup("the stash");
    case AL_PART_WORKTREE:
    case AL_PART_REF:
        break;
    case AL_PART_LINKED: {
        al_auto(al_freep) char *name = al_text_sanitize_line(strchr(change->name, '/') + 1);

        return al_asprintf(al_starts_with(change->name, AL_LINKED_PREFIX) ? "the worktree '%s'"
                                                                          : "the lock of the "
                                                                            "worktree '%s'",
                           name);
    }
    case AL_PART_STATE: {
        al_auto(al_freep) char *name = al_text_sanitize_line(change->name);

        return al_asprintf("%s in the git directory", name);
    }
    }
    return al_text_sanitize_line(change->name);
}

int al_plan_changed(struct al_store *store, const struct al_execution *execution,
                    struct al_run_limits *budget, bool *ret_changed, bool *ret_ended,
                    struct al_error *err)
{
    struct al_differences changes = { .items = NULL };
    char after[AL_OID_TEXT];
    int r = al_checkpoint_find_after(store, execution->before, after, err);

    *ret_changed = true;
    *ret_ended = r == 0;
    if (r < 0)
        return r == AL_ERR_NOT_FOUND ? 0 : r;
    r = al_checkpoint_changes_of(store, execution->before, after, budget, &changes, err);
    *ret_changed = false;
    for (size_t i = 0; i < changes.count; i++)
        *ret_changed |= !al_plan_tells_of_remote(execution, &changes.items[i]);
    al_differences_clear(&changes);
    return r;
}

static int too_many(size_t wanted, size_t found, struct al_error *err)
{
    if (!found)
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "there is nothing to roll back in this repository");
    return al_error_set(err, AL_ERR_NOT_FOUND, "only %zu execution%s can be rolled back, not %zu",
                        found, found == 1 ? "" : "s", wanted);
}

bool al_plan_is_unfinished(const struct al_executions *executions)
{
    const struct al_execution *last =
        executions->count ? &executions->items[executions->count - 1] : NULL;

    return last && last->interrupted && last->input;
}

/* The index of the execution whose checkpoint before is `id`. */
static bool find_execution(const struct al_executions *executions, const char *id,
                           size_t *ret_index)
{
    for (size_t i = executions->count; i > 0; i--) {
        *ret_index = i - 1;
        if (!strcmp(executions->items[i - 1].before, id))
            return true;
    }
    return false;
}

/* Plan the same rollback as the last one, if that was interrupted. */
static bool resume(struct al_store *store, const struct al_executions *executions, size_t count,
                   struct al_plan *plan)
{
    const struct al_execution *last =
        executions->count ? &executions->items[executions->count - 1] : NULL;
    const char *to = last ? al_json_get_string(last->input, "to") : NULL;
    size_t before = last ? (size_t)json_integer_value(json_object_get(last->input, "count")) : 0;
    size_t oldest;

    if (!last || !last->interrupted || !to || (count && count != before) ||
        strlen(to) >= AL_OID_TEXT || !al_checkpoint_exists(store, to) ||
        !find_execution(executions, to, &oldest))
        return false;
    *plan = (struct al_plan){
        .first = executions->count - 1,
        .oldest = oldest,
        .end = executions->count - 1,
        .count = before,
        .resumes = true,
    };
    (void)snprintf(plan->target, sizeof(plan->target), "%s", to);
    return true;
}

/* The index of the oldest execution that the redo at `at` covers.  The executions from there on are
 * skipped. */
static size_t before_undone(const struct al_executions *executions, size_t at)
{
    const char *to = al_json_get_string(executions->items[at].input, "to");

    while (to && at > 0)
        if (!strcmp(executions->items[--at].before, to))
            return at;
    return 0;
}

static int nothing_to_redo(struct al_error *err)
{
    return al_error_set(err, AL_ERR_NOT_FOUND,
                        "there is nothing to redo: the last execution that changed something "
                        "was not a rollback");
}

int al_plan_redo(struct al_store *store, const struct al_executions *executions,
                 struct al_run_limits *budget, struct al_plan *ret_plan, struct al_error *err)
{
    struct al_plan plan = { .count = 0 };
    size_t found = 0, at = executions->count;
    bool did, ended;
    int r = 0;

    while (r == 0 && at > 0 && !found) {
        const struct al_execution *item = &executions->items[at - 1];

        if (item->redo) {
            at = before_undone(executions, at - 1);
            continue;
        }
        r = al_checkpoint_exists(store, item->before)
                ? al_plan_changed(store, item, budget, &did, &ended, err)
                : nothing_to_redo(err);
        if (r == 0 && did && !item->input)
            r = nothing_to_redo(err);
        if (r == 0 && did)
            found = at;
        at--;
    }
    if (r == 0 && !found)
        r = nothing_to_redo(err);
    for (size_t i = found; r == 0 && i > 0 && i <= executions->count; i++) {
        r = al_plan_changed(store, &executions->items[i - 1], budget, &did, &ended, err);
        plan.count += did;
        if (!ended)
            plan.interrupted = executions->items[i - 1].seq;
    }
    if (r < 0)
        return r;
    plan.first = found - 1;
    plan.oldest = plan.first;
    plan.end = executions->count;
    memcpy(plan.target, executions->items[plan.first].before, sizeof(plan.target));
    *ret_plan = plan;
    return 0;
}

int al_plan_further(struct al_store *store, const struct al_executions *executions,
                    const struct al_plan *plan, struct al_run_limits *budget, size_t *ret_count,
                    struct al_error *err)
{
    bool did = false, ended;
    int r = 0;

    *ret_count = 0;
    for (size_t i = plan->first; i > 0 && r == 0 && !did; i--) {
        if (!al_checkpoint_exists(store, executions->items[i - 1].before))
            break;
        r = al_plan_changed(store, &executions->items[i - 1], budget, &did, &ended, err);
    }
    if (r == 0 && did)
        *ret_count = plan->count + 2;
    return r;
}

int al_plan_make(struct al_store *store, const struct al_executions *executions, size_t count,
                 struct al_run_limits *budget, struct al_plan *ret_plan, struct al_strv *ret_calls,
                 struct al_strv *ret_pushes, struct al_error *err)
{
    return resume(store, executions, count, ret_plan)
               ? 0
               : al_plan_choose(store, executions, count, budget, ret_plan, ret_calls, ret_pushes,
                                err);
}

int al_plan_choose(struct al_store *store, const struct al_executions *executions, size_t count,
                   struct al_run_limits *budget, struct al_plan *ret_plan,
                   struct al_strv *ret_calls, struct al_strv *ret_pushes, struct al_error *err)
{
    const size_t wanted = count ? count : 1;
    struct al_plan plan = { .first = 0 };

    for (size_t i = executions->count; i > 0 && plan.count < wanted; i--) {
        const struct al_execution *execution = &executions->items[i - 1];
        bool did, ended;
        int r;

        if (!al_checkpoint_exists(store, execution->before))
            break; /* the older ones are gone as well */
        r = al_plan_changed(store, execution, budget, &did, &ended, err);
        if (r < 0)
            return r;
        if (!did && ret_pushes && !strcmp(execution->tool, "git_push"))
            al_plan_name_call(execution, ret_pushes);
        if (!did)
            continue;
        plan.count++;
        plan.first = i - 1;
        if (ret_calls)
            al_plan_name_call(execution, ret_calls);
        if (!ended)
            plan.interrupted = execution->seq;
    }
    if (plan.count < wanted)
        return too_many(wanted, plan.count, err);
    plan.oldest = plan.first;
    plan.end = executions->count;
    memcpy(plan.target, executions->items[plan.first].before, sizeof(plan.target));
    *ret_plan = plan;
    return 0;
}
