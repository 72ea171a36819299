// SPDX-License-Identifier: Apache-2.0
/* `git commit`. */
#ifndef AL_GITOPS_PORCELAIN_COMMIT_H
#define AL_GITOPS_PORCELAIN_COMMIT_H

#include "gitops/repo/repo.h"
#include "gitops/run.h"

/**
 * What must be so before anyone is asked: something is staged (or a merge is being concluded) and
 * there is an identity.  The staged change is the excerpt for the approval, appended to `out`.
 */
int al_git_commit_preview(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_str *out, struct al_error *err);

/**
 * `git commit` with this message; nothing staged and a missing identity are told apart.
 *
 * @param expected  What al_git_expect_commit() said when the user was shown it: a commit that
 * became another one is taken back, and is AL_ERR_EXECUTION.  NULL: whatever is staged.
 */
int al_git_commit(struct al_repo *repo, const char *message, const char *expected, size_t max_bytes,
                  struct al_run_limits *budget, struct al_git_output *ret_output,
                  struct al_error *err);

#endif
