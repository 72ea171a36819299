// SPDX-License-Identifier: Apache-2.0
/*
 * The files that a merge or a stash entry writes, and that none of them is a file of the user that
 * git would write over without a word.
 *
 * git tells: it merges in memory, and the files that differ between this side and the result are
 * those that it writes.  Neither side's changes tell them: a file that one side added to a
 * directory moves along when the other side renamed the directory, over an ignored file at its new
 * place.
 *
 * Source: git-config(1), "merge.directoryRenames"; git-merge-tree(1).
 */
#ifndef AL_VERBS_REPLAY_MERGE_GUARD_H
#define AL_VERBS_REPLAY_MERGE_GUARD_H

#include "verbs/sequencer/merge.h"

/**
 * List the files of a merge of HEAD with a commit, and those that have local changes, for a tool's
 * `changed_files`.  git resets them when a merge fails, for whatever reason, and applies them
 * again (restore_state() in builtin/merge.c): between the two they are only in an object that
 * nothing names.
 *
 * @param theirs  The id of a commit.
 * @param[out] ret_known  False: git cannot tell, and nothing is appended.
 */
int al_merge_guard_files(const struct al_repo *repo, const char *theirs, bool *ret_known,
                         struct al_strv *out, struct al_error *err);

/** The same for a stash entry, given by its id or as "stash@{1}", that is applied.  Its untracked
 * files are listed, too. */
int al_merge_guard_entry_files(const struct al_repo *repo, const char *entry, bool *ret_known,
                               struct al_strv *out, struct al_error *err);

/** Fail as al_overwrite_check() does if a stash entry that is applied would write over an untracked
 * file. */
int al_merge_guard_check_entry(const struct al_repo *repo, const char *entry, struct al_error *err);

/**
 * al_git_merge() after that check of the merge.  The same is made in memory with `goes_along` and
 * uncommitted changes, and the changes go along (verbs/replay/along.h).
 */
int al_merge_guard_run(struct al_repo *repo, const struct al_merge_options *options,
                       size_t max_bytes, struct al_merge_outcome *ret_outcome,
                       struct al_error *err);

#endif
