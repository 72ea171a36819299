// SPDX-License-Identifier: Apache-2.0
/*
 * Ignored files of the user at places that only a merge itself tells.
 *
 * A file that one side added to a directory moves along when the other side renamed the directory.
 * git writes it over an ignored file at its new place, and neither side's changes have that name.
 *
 * Source: git-config(1), "merge.directoryRenames".
 */
#ifndef AL_GITOPS_REPLAY_MERGE_GUARD_H
#define AL_GITOPS_REPLAY_MERGE_GUARD_H

#include "gitops/sequencer/merge.h"

/**
 * Fail as al_overwrite_check() does for a merge of HEAD's commit, or with `base` of the index, that
 * would write over an untracked file.  Merges in memory if the changes of the other side do not
 * tell which files are written.
 *
 * @param base  The merge base of a merge of trees; NULL: git finds that of the commits.
 * @param theirs  The id of a commit.
 */
int al_merge_guard_check(const struct al_repo *repo, const char *base, const char *theirs,
                         struct al_run_limits *budget, struct al_error *err);

/** The same for a stash entry, given by its id or as "stash@{1}", that is applied. */
int al_merge_guard_check_entry(const struct al_repo *repo, const char *entry,
                               struct al_run_limits *budget, struct al_error *err);

/** al_git_merge() after that check. */
int al_merge_guard_run(struct al_repo *repo, const struct al_merge_options *options,
                       size_t max_bytes, struct al_run_limits *budget,
                       struct al_merge_outcome *ret_outcome, struct al_error *err);

#endif
