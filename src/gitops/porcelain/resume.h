// SPDX-License-Identifier: Apache-2.0
/*
 * Going on with what stopped: a rebase, a cherry-pick or a revert, which git_commit concludes.
 *
 * Like a rebase, a cherry-pick or a revert of several commits has what is left to do in files of
 * the repository, and is vetted: one that signs or has a merge strategy of its own is left to git
 * itself.
 *
 * Source: git-cherry-pick(1), git-revert(1), "SEQUENCER SUBCOMMANDS".
 */
#ifndef AL_GITOPS_PORCELAIN_RESUME_H
#define AL_GITOPS_PORCELAIN_RESUME_H

#include "gitops/sequencer/merge.h"
#include "gitops/sequencer/operation_state.h"

/** What a commit goes on with or concludes: a rebase, a cherry-pick, a revert; else
 * AL_IN_PROGRESS_NONE.  A merge is concluded by any commit. */
enum al_operation_state al_git_resumable(const struct al_repo *repo);

/** Whether going on writes the working tree: more than one commit may be left. */
bool al_git_resume_writes(const struct al_repo *repo);

/** What must be so before anyone is asked, as al_git_rebase_check() has it. */
int al_git_resume_check(const struct al_repo *repo, struct al_run_limits *budget,
                        struct al_error *err);

/** What goes into the commit, and how many follow, appended to `out`. */
int al_git_resume_preview(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_str *out, struct al_error *err);

/**
 * Commit what is staged and do the rest.  Another conflict is a success, see the outcome.
 * Interrupted, or where git fails without conflicts, the repository is put back as it was.
 *
 * @param message   Of the commit; NULL: its own.
 * @param expected  As al_git_commit() has it, for one that has a message; NULL: nobody was asked.
 * @return 0; AL_ERR_EXECUTION with AL_CODE_NO_STAGED_CHANGES where nothing of it is left.
 */
int al_git_resume(struct al_repo *repo, const char *message, const char *expected, size_t max_bytes,
                  struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                  struct al_error *err);

/** What became of it, one line of safe text: "The rebase in progress went on to its end." */
void al_git_resume_summary(const struct al_repo *repo, enum al_operation_state state,
                           struct al_str *out);

/** The commit was made and a later one is in conflict: AL_ERR_EXECUTION, AL_CODE_CONFLICT. */
int al_git_resume_conflicted(enum al_operation_state state, const struct al_merge_outcome *outcome,
                             struct al_error *err);

/** What is wrong with a sequencer's list of things to do, NULL when nothing is: the word refused,
 * owned by the caller.  The commits are appended to `ret_commits`, the first one being at work. */
char *al_sequencer_vet_todo(const char *todo, struct al_strv *ret_commits);

#endif
