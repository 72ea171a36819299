// SPDX-License-Identifier: Apache-2.0
#include "staging/branches.h"

#include <stdlib.h>

#include "gitops/reading/read_refs.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"

#define HEADS "refs/heads/"

void al_target_branches_clear(struct al_target_branches *branches)
{
    al_strv_clear(&branches->names);
    free(branches->current);
    *branches = (struct al_target_branches){ .names = AL_STRV_INIT };
}

/* The names, while git lists them. */
struct reading {
    struct al_target_branches *branches;
    size_t left; /* bytes */
};

static bool take_branch(void *payload, const struct al_listed_ref *ref)
{
    struct reading *reading = payload;
    size_t len = strlen(HEADS) + strlen(ref->name);

    reading->branches->truncated = len > reading->left;
    if (reading->branches->truncated)
        return false;
    reading->left -= len;
    al_strv_add(&reading->branches->names, ref->name);
    return true;
}

static char *read_current(const struct al_repo *repo)
{
    static const char mark[] = "ref: " HEADS;
    al_auto(al_freep) char *head = al_ref_read_head(&repo->at);

    return head && al_starts_with(head, mark) ? al_strdup(head + strlen(mark)) : NULL;
}

int al_target_branches_list(const struct al_repo *repo, size_t max_bytes,
                            struct al_run_limits *budget, struct al_target_branches *ret_branches,
                            struct al_error *err)
{
    al_auto(al_target_branches_clear) struct al_target_branches branches = { .names =
                                                                                 AL_STRV_INIT };
    struct reading reading = { .branches = &branches, .left = max_bytes };
    int r = al_git_read_refs(repo, &(struct al_refs_query){ .ids = true }, take_branch, &reading,
                             budget, err);

    if (r < 0)
        return r;
    branches.current = read_current(repo);
    *ret_branches = branches;
    branches = (struct al_target_branches){ .names = AL_STRV_INIT };
    return 0;
}
