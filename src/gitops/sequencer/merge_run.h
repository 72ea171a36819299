// SPDX-License-Identifier: Apache-2.0
/*
 * What merge, replay and rebase have in common: a git that joins changes works in several steps,
 * may stop in conflicts, which is no failure, and must not be left half done.
 */
#ifndef AL_GITOPS_SEQUENCER_MERGE_RUN_H
#define AL_GITOPS_SEQUENCER_MERGE_RUN_H

#include "gitops/sequencer/merge.h"

struct al_git_command;

/**
 * Run a command that joins changes and say how it ended, all but whether the branch moved.
 *
 * @param outcome  Set up with AL_MERGE_INIT.
 * @return 0, with conflicts too; AL_ERR_EXECUTION when git failed without any, or was stopped.
 */
int al_merge_run(struct al_repo *repo, const struct al_git_command *command, size_t max_bytes,
                 struct al_run_limits *budget, struct al_merge_outcome *outcome,
                 struct al_error *err);

/** A commit that is to come into the current branch.  All of it borrowed. */
struct al_merge_input {
    const struct al_git_command *command;
    const char *oid;  /**< the commit */
    const char *head; /**< where the branch is; "" where it is unborn */
    bool is_merge;    /**< it is `git merge`: what came in must be `oid` */
};

/**
 * Run the command.  When git fails without conflicts, is interrupted or cancelled, or merged
 * another commit, the repository is put back as it was.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_DIRTY_WORKDIR where local changes are in the way, or an
 *         untracked file, ignored or not, would be overwritten.
 */
int al_merge_run_or_restore(struct al_repo *repo, const struct al_merge_input *input,
                            size_t max_bytes, struct al_run_limits *budget,
                            struct al_merge_outcome *ret_outcome, struct al_error *err);

#endif
