// SPDX-License-Identifier: Apache-2.0
/* Working trees of the target that use the branch of a push, and forbid it. */
#include "gitops/follow/branch_use.h"
#include "staging/push/private.h"

static const char *describe_other(enum al_branch_use use)
{
    switch (use) {
    case AL_BRANCH_UNUSED:
        return NULL;
    case AL_BRANCH_CHECKED_OUT:
        return "Another working tree of the target has this branch checked out";
    case AL_BRANCH_REBASED:
        return "Another working tree of the target rebases this branch; the user has to complete "
               "or abort the rebase first";
    case AL_BRANCH_BISECTED:
        return "Another working tree of the target bisects this branch; the user has to end that "
               "with git bisect reset first";
    }
    return NULL;
}

static const char *describe_own(enum al_branch_use use)
{
    switch (use) {
    case AL_BRANCH_UNUSED:
    case AL_BRANCH_CHECKED_OUT:
        return NULL;
    case AL_BRANCH_REBASED:
        return "A rebase of this branch is in progress in the target; the user has to complete or "
               "abort it first";
    case AL_BRANCH_BISECTED:
        return "A bisection of this branch is in progress in the target; the user has to end it "
               "with git bisect reset first";
    }
    return NULL;
}

int al_push_find_other_worktree(const struct al_push *push, char **ret_refusal,
                                struct al_error *err)
{
    al_auto(al_branch_users_clear) struct al_branch_users users = { .items = NULL };
    const char *why = NULL;
    int r = al_branch_find_users(push->repo, push->ref, &users, err);

    for (size_t i = 0; r == 0 && !why && i < users.count; i++)
        why = users.items[i].is_own ? describe_own(users.items[i].use)
                                    : describe_other(users.items[i].use);
    if (why)
        *ret_refusal = al_strdup(why);
    return r;
}
