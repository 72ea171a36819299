// SPDX-License-Identifier: Apache-2.0
/* Which calls of a session an undo takes back. */
#include <string.h>

#include "guard/text.h"
#include "history/rollback_plan.h"

/* The number of executions before the one that a rollback went back to; `at` if that is not known.
 * The repository is then as it was when there were so many. */
static size_t before_target(const struct al_executions *executions, size_t at)
{
    const char *to = al_json_get_string(executions->items[at].input, "to");

    for (size_t i = at; to && i > 0; i--)
        if (!strcmp(executions->items[i - 1].before, to))
            return i - 1;
    return at;
}

void al_plan_name_call(const struct al_execution *execution, struct al_strv *ret_calls)
{
    al_auto(al_freep) char *safe =
        execution->summary ? al_text_join_lines(execution->summary) : NULL;

    if (safe)
        al_strv_addf(ret_calls, "%s: %s", execution->tool, safe);
    else
        al_strv_add(ret_calls, execution->tool);
}

bool al_plan_tells_of_remote(const struct al_execution *execution,
                             const struct al_difference *change)
{
    /* A rollback has what it took back; git_remote takes these references along with the remote. */
    if (execution->input || !strcmp(execution->tool, "git_remote"))
        return false;
    if (change->part == AL_PART_REF)
        return al_starts_with(change->name, "refs/remotes/");
    return change->part == AL_PART_STATE && !strcmp(change->name, "config") &&
           !strcmp(execution->tool, "git_push");
}

static int too_many(size_t wanted, size_t found, struct al_error *err)
{
    if (!found)
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "this session has changed nothing here that is not undone");
    return al_error_set(err, AL_ERR_NOT_FOUND,
                        "only %zu call%s of this session can be undone, not %zu", found,
                        found == 1 ? "" : "s", wanted);
}

int al_plan_undo(struct al_store *store, const struct al_executions *executions, size_t count,
                 struct al_run_limits *budget, struct al_plan *ret_plan, struct al_strv *ret_calls,
                 struct al_strv *ret_pushes, struct al_error *err)
{
    const size_t wanted = count ? count : 1;
    struct al_plan plan = { .end = executions->count };
    size_t at = executions->count;
    int r = 0;

    while (at > 0 && plan.count < wanted) {
        const struct al_execution *execution = &executions->items[--at];
        bool did = false, ended;

        if (execution->input) { /* a rollback */
            at = before_target(executions, at);
            continue;
        }
        if (!al_checkpoint_exists(store, execution->before))
            break; /* the older ones are gone as well */
        r = al_plan_changed(store, execution, budget, &did, &ended, err);
        if (r < 0)
            return r;
        if (!did && !strcmp(execution->tool, "git_push"))
            al_plan_name_call(execution, ret_pushes);
        if (!did)
            continue;
        plan.count++;
        plan.first = plan.oldest = at;
        if (!ended)
            plan.interrupted = execution->seq;
        al_plan_name_call(execution, ret_calls);
    }
    if (plan.count < wanted)
        return too_many(wanted, plan.count, err);
    memcpy(plan.target, executions->items[plan.first].before, sizeof(plan.target));
    *ret_plan = plan;
    return 0;
}
