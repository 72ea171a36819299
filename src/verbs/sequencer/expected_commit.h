// SPDX-License-Identifier: Apache-2.0
/*
 * Verify that a commit is the one the user approved.
 *
 * Another process can replace the index in the milliseconds between airlock's last check and git
 * reading it.  So the commit is compared with the expected one after it was made.
 */
#ifndef AL_VERBS_SEQUENCER_EXPECTED_COMMIT_H
#define AL_VERBS_SEQUENCER_EXPECTED_COMMIT_H

#include "base/error.h"
#include "git/repo/repo.h"

/**
 * Describe the commit that `git commit` would make now: its parents, and each file it changes with
 * both ids and modes.
 *
 * @param index              The index file to commit; NULL: the repository's own.
 * @param[out] ret_expected  For al_git_check_commit(); the caller frees it.
 * @return 0, or git's failure.
 */
int al_git_expect_commit(const struct al_repo *repo, const char *index,
                         struct al_run_limits *budget, char **ret_expected, struct al_error *err);

/**
 * Compare HEAD's commit, which was just made, with the expected one.
 *
 * @param from  The commit that HEAD was at before; "" on an unborn branch.
 * @return 0; AL_ERR_EXECUTION when they differ.  The caller then undoes the commit.
 */
int al_git_check_commit(const struct al_repo *repo, const char *expected, const char *from,
                        struct al_run_limits *budget, struct al_error *err);

/** Append the parents of a commit, each with a space in front. */
int al_git_read_parents(const struct al_repo *repo, const char *commit,
                        struct al_run_limits *budget, struct al_str *out, struct al_error *err);

/** Append the commits in MERGE_HEAD, each with a space in front; nothing when no merge is in
 * progress. */
int al_git_add_merge_heads(const struct al_repo *repo, struct al_str *out, struct al_error *err);

#endif
