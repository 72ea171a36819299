// SPDX-License-Identifier: Apache-2.0
#include "gitops/landing/compare.h"

#include <stdlib.h>
#include <string.h>

#include "gitops/inmemory/inmemory.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/revision.h"
#include "gitops/plumbing/rollback_plumbing.h"

void al_branch_comparison_clear(struct al_branch_comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++) {
        al_named_branch_clear(&comparison->branches[i].branch);
        free(comparison->branches[i].base);
        al_strv_clear(&comparison->branches[i].files);
    }
    for (size_t i = 0; i < comparison->nclashes; i++)
        al_strv_clear(&comparison->clashes[i].conflicts);
    al_named_branch_clear(&comparison->into);
    free(comparison->branches);
    free(comparison->clashes);
    free(comparison->order);
    *comparison = (struct al_branch_comparison){ .branches = NULL };
}

static int look_at(const struct al_repo *repo, const char *name, const struct al_named_branch *into,
                   struct al_run_limits *budget, struct al_compared *compared, struct al_error *err)
{
    int r = al_landing_find(repo, name, &compared->branch, err);

    if (r == 0)
        r = al_git_merge_base(repo, into->oid, compared->branch.oid, budget, &compared->base, err);
    if (r == 0)
        r = al_git_count_apart(repo, into->oid, compared->branch.oid, budget, &compared->behind,
                               &compared->ahead, err);
    if (r == 0 && compared->base)
        r = al_git_changed_files(repo, compared->base, compared->branch.oid, budget,
                                 &compared->files, err);
    return r;
}

static struct al_clash *add_clash(struct al_branch_comparison *comparison, size_t one, size_t other)
{
    comparison->clashes = al_reallocarray(comparison->clashes, comparison->nclashes + 1,
                                          sizeof(*comparison->clashes));
    comparison->clashes[comparison->nclashes] = (struct al_clash){ .one = one, .other = other };
    comparison->branches[one].clashes++;
    if (other != AL_COMPARE_INTO)
        comparison->branches[other].clashes++;
    return &comparison->clashes[comparison->nclashes++];
}

/* Try one merge. */
static int try_pair(struct al_branch_comparison *comparison, struct al_inmemory *memory, size_t one,
                    size_t other, struct al_run_limits *budget, struct al_error *err)
{
    const struct al_compared *ours = &comparison->branches[one];
    const struct al_compared *theirs =
        other == AL_COMPARE_INTO ? NULL : &comparison->branches[other];
    const char *with = theirs ? theirs->branch.oid : comparison->into.oid;
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_freep) char *base = NULL;
    int r = al_git_merge_base(al_inmemory_repo(memory), ours->branch.oid, with, budget, &base, err);

    if (r < 0)
        return r;
    if (!base) {
        (void)add_clash(comparison, one, other);
        return 0;
    }
    if (!strcmp(base, with) || !strcmp(base, ours->branch.oid)) /* one has the other */
        return 0;
    r = al_inmemory_merge(memory, ours->branch.oid, with, budget, &merged, err);
    if (r == 0 && merged.conflicted)
        al_merged_paths(&merged, &add_clash(comparison, one, other)->conflicts);
    return r;
}

static int try_all(struct al_branch_comparison *comparison, struct al_inmemory *memory,
                   struct al_run_limits *budget, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < comparison->count; i++) {
        r = try_pair(comparison, memory, i, AL_COMPARE_INTO, budget, err);
        for (size_t j = i + 1; r == 0 && j < comparison->count; j++)
            r = try_pair(comparison, memory, i, j, budget, err);
    }
    return r;
}

static bool clashes_with_into(const struct al_branch_comparison *comparison, size_t branch)
{
    for (size_t i = 0; i < comparison->nclashes; i++)
        if (comparison->clashes[i].one == branch && comparison->clashes[i].other == AL_COMPARE_INTO)
            return true;
    return false;
}

/* Whether a branch had better land before another one: what conflicts with less comes first, since
 * each that lands is one less to resolve against; small ones come before large ones. */
static bool is_before(const struct al_branch_comparison *comparison, size_t one, size_t other)
{
    const struct al_compared *a = &comparison->branches[one], *b = &comparison->branches[other];
    const bool a_clashes = clashes_with_into(comparison, one);
    const bool b_clashes = clashes_with_into(comparison, other);

    if (a_clashes != b_clashes)
        return b_clashes;
    if (a->clashes != b->clashes)
        return a->clashes < b->clashes;
    return a->files.count < b->files.count;
}

/* A branch that is a part of another one is never suggested after it: it has fewer files or as many
 * conflicts.  Equal ones stay in the order in which they were given. */
static void suggest_order(struct al_branch_comparison *comparison)
{
    comparison->order = al_calloc(comparison->count + 1, sizeof(*comparison->order));
    for (size_t i = 0; i < comparison->count; i++) {
        size_t at = i;

        for (; at && is_before(comparison, i, comparison->order[at - 1]); at--)
            comparison->order[at] = comparison->order[at - 1];
        comparison->order[at] = i;
    }
}

static int compare(struct al_branch_comparison *comparison, const struct al_repo *repo,
                   const char *into, const struct al_strv *names, struct al_run_limits *budget,
                   struct al_error *err)
{
    struct al_inmemory *memory = NULL;
    int r = al_landing_find(repo, into, &comparison->into, err);

    comparison->branches = al_calloc(names->count + 1, sizeof(*comparison->branches));
    for (size_t i = 0; r == 0 && i < names->count; i++) {
        comparison->count++;
        r = look_at(repo, names->items[i], &comparison->into, budget, &comparison->branches[i],
                    err);
    }
    if (r == 0)
        r = al_inmemory_open(repo, &memory, err);
    if (r == 0)
        r = try_all(comparison, memory, budget, err);
    al_inmemory_free(memory);
    if (r == 0)
        suggest_order(comparison);
    return r;
}

int al_landing_compare(const struct al_repo *repo, const char *into, const struct al_strv *names,
                       struct al_run_limits *budget, struct al_branch_comparison *ret_comparison,
                       struct al_error *err)
{
    struct al_branch_comparison comparison = { .branches = NULL };
    int r = compare(&comparison, repo, into, names, budget, err);

    if (r < 0) {
        al_branch_comparison_clear(&comparison);
        return r;
    }
    *ret_comparison = comparison;
    return 0;
}

/* The branches that git lists. */
struct candidates {
    const char *into; /* full name */
    struct al_strv in_worktrees, others;
};

/* "<full name> <path of the working tree>" */
static bool take_candidate(void *payload, char *const *fields)
{
    struct candidates *candidates = payload;
    const char *ref = fields[0] + strspn(fields[0], "\n"); /* for-each-ref ends lines */

    if (!al_starts_with(ref, AL_HEADS) || !strcmp(ref, candidates->into))
        return true;
    al_strv_add(*fields[1] ? &candidates->in_worktrees : &candidates->others,
                ref + strlen(AL_HEADS));
    return true;
}

int al_landing_candidates(const struct al_repo *repo, const char *into,
                          struct al_run_limits *budget, struct al_strv *ret_names, size_t *ret_more,
                          struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *ref = al_asprintf(AL_HEADS "%s", into);
    struct candidates candidates = { .into = ref };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(2, take_candidate, &candidates);
    const struct al_strv *chosen;
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "for-each-ref",
                 "--format=%(refname)%00%(worktreepath)%00", NULL);
    al_strv_addf(&command.argv, "--no-merged=%s", ref);
    al_strv_add(&command.argv, AL_HEADS);
    r = al_git_read_records(&repo->at, &command, &records, budget, err);
    chosen = candidates.in_worktrees.count ? &candidates.in_worktrees : &candidates.others;
    for (size_t i = 0; r == 0 && i < chosen->count && i < AL_COMPARE_BRANCHES_MAX; i++)
        al_strv_add(ret_names, chosen->items[i]);
    *ret_more = chosen->count - (r == 0 ? ret_names->count : 0);
    al_strv_clear(&candidates.in_worktrees);
    al_strv_clear(&candidates.others);
    return r;
}
