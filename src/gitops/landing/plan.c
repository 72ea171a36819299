// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "gitops/landing/private.h"

const char *al_landing_strategy_name(enum al_landing_strategy strategy)
{
    static const char *const names[] = { [AL_LAND_MERGE] = "merge",
                                         [AL_LAND_SQUASH] = "squash",
                                         [AL_LAND_REBASE] = "rebase",
                                         [AL_LAND_FF] = "ff" };

    return names[strategy];
}

void al_landing_free(struct al_landing *landing)
{
    if (!landing)
        return;
    al_named_branch_clear(&landing->branch);
    al_named_branch_clear(&landing->into);
    al_inmemory_free(landing->memory);
    al_merged_clear(&landing->conflict);
    free(landing->commit);
    free(landing->tree);
    free(landing->conflict_commit);
    free(landing->message);
    free(landing);
}

bool al_landing_is_idle(const struct al_landing *landing)
{
    return !landing->commit;
}

static int find_branches(struct al_landing *landing, const struct al_landing_request *request,
                         struct al_error *err)
{
    int r = al_landing_find(landing->repo, request->branch, &landing->branch, err);

    if (r == 0)
        r = al_landing_find(landing->repo, request->into, &landing->into, err);
    if (r == 0 && !strcmp(landing->branch.ref, landing->into.ref))
        r = al_error_set(err, AL_ERR_BAD_ARGS, "branch and into are the same branch");
    return r;
}

static int build(struct al_landing *landing, const struct al_landing_request *request,
                 const char *base, struct al_run_limits *budget, struct al_error *err)
{
    switch (landing->strategy) {
    case AL_LAND_MERGE:
    case AL_LAND_SQUASH:
        return al_landing_build_merge(landing, request->message, budget, err);
    case AL_LAND_REBASE:
        return al_landing_build_rebase(landing, budget, err);
    case AL_LAND_FF:
        landing->is_diverged = !base || strcmp(base, landing->into.oid) != 0;
        if (!landing->is_diverged)
            landing->commit = al_strdup(landing->branch.oid);
        break;
    }
    return 0;
}

static int plan(struct al_landing *landing, const struct al_landing_request *request,
                struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *base = NULL;
    size_t behind = 0;
    int r = find_branches(landing, request, err);

    if (r == 0)
        r = al_landing_base(landing->repo, landing->into.oid, landing->branch.oid, budget, &base,
                            err);
    if (r == 0)
        r = al_landing_count(landing->repo, landing->into.oid, landing->branch.oid, budget, &behind,
                             &landing->commits, err);
    if (r == 0)
        r = al_inmemory_open(landing->repo, &landing->memory, err);
    if (r < 0)
        return r;
    landing->is_up_to_date = !landing->commits;
    if (!landing->is_up_to_date)
        r = build(landing, request, base, budget, err);
    if (r == 0 && landing->commit)
        r = al_inmemory_tree(landing->memory, landing->commit, budget, &landing->tree, err);
    return r;
}

int al_landing_plan(const struct al_repo *repo, const struct al_landing_request *request,
                    struct al_run_limits *budget, struct al_landing **ret_landing,
                    struct al_error *err)
{
    struct al_landing *landing = al_calloc(1, sizeof(*landing));
    int r;

    landing->repo = repo;
    landing->strategy = request->strategy;
    landing->conflict = AL_MERGED_INIT;
    r = plan(landing, request, budget, err);
    if (r < 0) {
        al_landing_free(landing);
        return r;
    }
    *ret_landing = landing;
    return 0;
}
