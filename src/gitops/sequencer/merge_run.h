// SPDX-License-Identifier: Apache-2.0
/*
 * Run a git command that merges changes, for merge and rebase.
 *
 * Such a command works in several steps.  It may stop at conflicts, which is not a failure.  What
 * it leaves half done, the call puts back from its checkpoint (tool/checkpoint.c).
 */
#ifndef AL_GITOPS_SEQUENCER_MERGE_RUN_H
#define AL_GITOPS_SEQUENCER_MERGE_RUN_H

#include "gitops/sequencer/merge.h"

struct al_git_command;

/**
 * Run a command that merges changes, and fill the outcome except `fast_forward` and `up_to_date`.
 *
 * @param outcome  Set up with AL_MERGE_INIT.
 * @return 0, with conflicts too; AL_ERR_EXECUTION when git failed without conflicts or was stopped.
 */
int al_merge_run(struct al_repo *repo, const struct al_git_command *command, size_t max_bytes,
                 struct al_run_limits *budget, struct al_merge_outcome *outcome,
                 struct al_error *err);

/** The command that brings a commit into the current branch. All members are borrowed. */
struct al_merge_input {
    const struct al_git_command *command;
    const char *oid;  /**< id of the commit */
    const char *head; /**< commit of the branch before; "" when it is unborn */
    bool is_merge;    /**< the command is `git merge`; the merged commit must be `oid` */
};

/**
 * Run the command.
 *
 * @return 0, with conflicts too; AL_ERR_EXECUTION, with AL_CODE_DIRTY_WORKDIR when local changes
 * are in the way, and when git merged another commit.
 */
int al_merge_bring(struct al_repo *repo, const struct al_merge_input *input, size_t max_bytes,
                   struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                   struct al_error *err);

#endif
