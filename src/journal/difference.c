// SPDX-License-Identifier: Apache-2.0
#include "journal/difference.h"

#include "journal/executions.h"
#include "journal/plan.h"
#include "journal/store.h"

/* The checkpoint after the newest execution; the present is as good when it did not end. */
static int find_end(struct al_store *store, const struct al_executions *executions,
                    struct al_budget *budget, char ret_id[AL_OID_TEXT], struct al_error *err)
{
    const struct al_execution *last = &executions->items[executions->count - 1];

    if (al_checkpoint_find_after(store, last->before, ret_id, NULL) == 0)
        return 0;
    return al_checkpoint_take(store,
                              &(struct al_checkpoint_reason){ .tool = "diff", .operation = "show" },
                              budget, ret_id, err);
}

static int compare(struct al_store *store, const struct al_executions *executions,
                   const struct al_difference_options *options, struct al_budget *budget,
                   struct al_differences *ret_differences, struct al_str *ret_text,
                   struct al_error *err)
{
    char end[AL_OID_TEXT];
    struct al_plan plan;
    int r = al_plan_choose(store, executions, options->count, budget, &plan, err);

    if (r == 0)
        r = find_end(store, executions, budget, end, err);
    if (r == 0)
        r = al_bare_diff(&store->bare, plan.target, end, options->lines, AL_DIFFERENCE_MAX_BYTES,
                         budget, ret_text, err);
    return r < 0 ? r : al_checkpoint_compare(store, plan.target, end, budget, ret_differences, err);
}

int al_difference_read(struct al_repo *repo, const struct al_difference_options *options,
                       struct al_budget *budget, struct al_differences *ret_differences,
                       struct al_str *ret_text, struct al_error *err)
{
    struct al_executions executions = { .items = NULL };
    struct al_store *store = NULL;
    int r = al_store_open(options->settings, repo, false, budget, &store, err);

    if (r == AL_ERR_NOT_FOUND)
        return al_error_set(err, r, "nothing was changed in this repository");
    if (r == 0)
        r = al_executions_read(options->journal_file, repo->top, &executions, err);
    if (r == 0)
        r = compare(store, &executions, options, budget, ret_differences, ret_text, err);
    al_executions_clear(&executions);
    al_store_close(store);
    return r;
}
