// SPDX-License-Identifier: Apache-2.0
#include "gitops/reading/other_worktrees.h"

#include <stdlib.h>
#include <string.h>

#include "gitops/plumbing/heads.h"

/** More are not listed. */
#define WORKTREES_MAX 1000

static const char heads[] = "refs/heads/";

void al_other_worktrees_clear(struct al_other_worktrees *worktrees)
{
    for (size_t i = 0; i < worktrees->count; i++) {
        free(worktrees->items[i].path);
        free(worktrees->items[i].branch);
        free(worktrees->items[i].head);
    }
    free(worktrees->items);
    *worktrees = AL_OTHER_WORKTREES_INIT;
}

static bool take_head(void *payload, const struct al_head *head)
{
    struct al_other_worktrees *to = payload;
    const bool on_branch = head->branch && al_starts_with(head->branch, heads);

    if (head->is_own || !head->top || (!head->branch && !head->oid))
        return true;
    to->items = al_reallocarray(to->items, to->count + 1, sizeof(*to->items));
    to->items[to->count++] = (struct al_other_worktree){
        .path = al_strdup(head->top),
        .branch = on_branch ? al_strdup(head->branch + strlen(heads)) : NULL,
        .head = al_strdup(head->oid ? head->oid : ""),
    };
    return to->count < WORKTREES_MAX;
}

void al_git_other_worktrees(const struct al_repo *repo, struct al_other_worktrees *ret_worktrees)
{
    (void)al_git_each_head(&repo->at, take_head, ret_worktrees, NULL);
}
