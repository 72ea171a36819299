// SPDX-License-Identifier: Apache-2.0
/*
 * What a commit is to become, and whether it became that.
 *
 * Between the last look at the index and git's own there are milliseconds in which somebody can
 * write another one.  So the commit that was made is compared with what the user was shown.
 */
#ifndef AL_GITOPS_SEQUENCER_EXPECTED_COMMIT_H
#define AL_GITOPS_SEQUENCER_EXPECTED_COMMIT_H

#include "gitops/repo/repo.h"
#include "util/error.h"

/**
 * Describe the commit that `git commit` would make now: its parents, and each file it changes with
 * both ids and modes.
 *
 * @param[out] ret_expected  For al_git_check_commit(); the caller frees it.
 * @return 0, or why git could not tell.
 */
int al_git_expect_commit(const struct al_repo *repo, struct al_run_limits *budget,
                         char **ret_expected, struct al_error *err);

/**
 * Compare HEAD's commit, which was just made, with what was expected.
 *
 * @param from  What HEAD's commit was before, "" on an unborn branch.
 * @return 0; AL_ERR_EXECUTION when they differ, and the caller is to take the commit back.
 */
int al_git_check_commit(const struct al_repo *repo, const char *expected, const char *from,
                        struct al_run_limits *budget, struct al_error *err);

/** Append the parents of a commit, each with a blank in front. */
int al_git_read_parents(const struct al_repo *repo, const char *commit,
                        struct al_run_limits *budget, struct al_str *out, struct al_error *err);

/** The same for the commits a merge in progress brings in; nothing where there is none. */
int al_git_add_merge_heads(const struct al_repo *repo, struct al_str *out, struct al_error *err);

#endif
