// SPDX-License-Identifier: Apache-2.0
#include "gitops/replay/merge_guard.h"

#include <stdlib.h>

#include "gitops/inmemory/inmemory.h"
#include "gitops/plumbing/revision.h"
#include "gitops/preview/sides.h"
#include "gitops/refs.h"
#include "gitops/sequencer/overwrite.h"

/* Whether the merge writes nothing but what the other side changed, which is checked anyway. */
static bool is_bounded(const struct al_repo *repo, const char *head, const char *theirs)
{
    al_auto(al_side_clear) struct al_side side = AL_SIDE_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    return al_side_of_commit(repo, head, theirs, &side) &&
           al_three_way_bound(repo, &side, NULL, &names) == AL_BOUND_KNOWN;
}

/* An index with conflicts has no tree, and git refuses it. */
static int find_ours(struct al_inmemory *memory, struct al_run_limits *budget, char **ret_tree,
                     struct al_error *err)
{
    int r = al_inmemory_index_tree(memory, budget, ret_tree, err);

    if (r == AL_ERR_EXECUTION) {
        if (err)
            al_error_clear(err);
        return 0;
    }
    return r;
}

/* Merge as the index is, with this base. */
static int check_trees(struct al_inmemory *memory, const char *base, const char *theirs,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *ours = NULL;
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    int r = find_ours(memory, budget, &ours, err);

    if (r < 0 || !ours)
        return r;
    r = al_inmemory_merge_with_base(memory, base, ours, theirs, budget, &merged, err);
    return r < 0
               ? r
               : al_overwrite_check_added(al_inmemory_repo(memory), ours, merged.tree, budget, err);
}

static int check_commits(struct al_inmemory *memory, const char *head, const char *theirs,
                         struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    int r = al_inmemory_merge(memory, head, theirs, budget, &merged, err);

    return r < 0
               ? r
               : al_overwrite_check_added(al_inmemory_repo(memory), head, merged.tree, budget, err);
}

int al_merge_guard_check(const struct al_repo *repo, const char *base, const char *theirs,
                         struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    struct al_inmemory *memory = NULL;
    int r;

    if (!*head || (!base && is_bounded(repo, head, theirs)))
        return 0;
    r = al_inmemory_open(repo, &memory, err);
    if (r == 0)
        r = base ? check_trees(memory, base, theirs, budget, err)
                 : check_commits(memory, head, theirs, budget, err);
    al_inmemory_free(memory);
    return r;
}

int al_merge_guard_check_entry(const struct al_repo *repo, const char *entry,
                               struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *parent = al_asprintf("%s^1", entry);
    al_auto(al_freep) char *theirs = NULL, *base = NULL;
    int r = al_git_find_object(repo, entry, "commit", budget, &theirs, err);

    if (r == 0 && theirs)
        r = al_git_find_object(repo, parent, "commit", budget, &base, err);
    return r < 0 || !base ? r : al_merge_guard_check(repo, base, theirs, budget, err);
}

int al_merge_guard_run(struct al_repo *repo, const struct al_merge_options *options,
                       size_t max_bytes, struct al_run_limits *budget,
                       struct al_merge_outcome *ret_outcome, struct al_error *err)
{
    al_auto(al_freep) char *theirs = NULL;
    int r = 0;

    if (!options->files) { /* else they are all known, and checked */
        r = al_git_resolve_commit(repo, options->oid ? options->oid : options->commit, budget,
                                  &theirs, err);
        if (r == 0)
            r = al_merge_guard_check(repo, NULL, theirs, budget, err);
    }
    return r < 0 ? r : al_git_merge(repo, options, max_bytes, budget, ret_outcome, err);
}
