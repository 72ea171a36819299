// SPDX-License-Identifier: Apache-2.0
/*
 * What was begun in a repository and waits to be concluded or given up.
 *
 * Source: git-merge(1), git-rebase(1), git-cherry-pick(1), "--abort".
 */
#ifndef AL_GITOPS_SEQUENCER_OPERATION_STATE_H
#define AL_GITOPS_SEQUENCER_OPERATION_STATE_H

#include "gitops/repo/repo.h"
#include "util/str.h"

enum al_underway {
    AL_UNDERWAY_NONE,
    AL_UNDERWAY_MERGE,
    AL_UNDERWAY_REBASE,
    AL_UNDERWAY_CHERRY_PICK,
    AL_UNDERWAY_REVERT,
    AL_UNDERWAY_AM, /**< patches from mail are being applied */
};

/** What is in progress, from the files.  A rebase that stopped in a pick is a rebase. */
enum al_underway al_git_underway(const struct al_repo *repo);

/** "merge", "rebase", "cherry-pick", "revert" or "am"; "" for none. */
const char *al_underway_name(enum al_underway underway);

/** The same as a noun to be read: "application of patches" for am. */
const char *al_underway_noun(enum al_underway underway);

/** "A rebase is in progress (2 of 5), 1 conflict" appended to `out`; nothing where nothing is. */
void al_git_underway_line(const struct al_repo *repo, size_t conflicts, struct al_str *out);

/** Refuse while something is in progress: with AL_CODE_CONFLICT when there are conflicts, else with
 * AL_CODE_OPERATION_FAILED. */
int al_git_check_nothing_underway(const struct al_repo *repo, struct al_budget *budget,
                                  struct al_error *err);

/** Refuse when there is nothing to give up (AL_CODE_OPERATION_FAILED), or when going back would
 * write content through a configured filter. */
int al_git_abort_check(const struct al_repo *repo, struct al_budget *budget, struct al_error *err);

/** The files that going back writes over, as al_git_concerned() and al_git_overwritten() give them.
 */
int al_git_abort_concerned(const struct al_repo *repo, struct al_budget *budget,
                           struct al_strv *out, struct al_error *err);

/** What going back would lose, as an excerpt appended to `out`. */
int al_git_abort_preview(const struct al_repo *repo, struct al_budget *budget, struct al_str *out,
                         struct al_error *err);

/**
 * Give up what is in progress and go back to before it began.
 * @param[out] ret_done  What it was.
 */
int al_git_abort(struct al_repo *repo, struct al_budget *budget, enum al_underway *ret_done,
                 struct al_error *err);

#endif
