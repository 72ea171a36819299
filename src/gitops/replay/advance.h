// SPDX-License-Identifier: Apache-2.0
/*
 * Move the current branch, the index and the working tree to a commit that was made in memory.
 *
 * Local changes to files that do not differ stay.  What is left half done, the call puts back from
 * its checkpoint.
 *
 * Source: git-read-tree(1) "Two Tree Merge", git-update-ref(1).
 */
#ifndef AL_GITOPS_REPLAY_ADVANCE_H
#define AL_GITOPS_REPLAY_ADVANCE_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** What to move, and how. */
struct al_advance {
    const char *from;   /**< the commit of HEAD */
    const char *to;     /**< the commit to move to */
    const char *reflog; /**< the entry of the reflog: "rebase (finish)" */
    bool keeps_head; /**< only the index and the working tree move: the change is not committed */
    bool detaches;   /**< HEAD leaves its branch, which stays */
    bool sets_orig_head;
};

/**
 * Move.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_DIRTY_WORKDIR when local changes or untracked files
 * would be overwritten, and when HEAD is not at `from` any more.
 */
int al_git_advance(struct al_repo *repo, const struct al_advance *advance,
                   struct al_run_limits *budget, struct al_error *err);

/** The same, when filters and files in the way were looked for. */
int al_git_advance_checked(struct al_repo *repo, const struct al_advance *advance,
                           struct al_run_limits *budget, struct al_error *err);

#endif
