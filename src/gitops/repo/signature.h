// SPDX-License-Identifier: Apache-2.0
/*
 * Signatures of commits: none is made here, and where the configuration asks for one, that is said
 * or refused.
 *
 * Source: git-config(1) commit.gpgSign.
 */
#ifndef AL_GITOPS_REPO_SIGNATURE_H
#define AL_GITOPS_REPO_SIGNATURE_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/error.h"
#include "util/str.h"

/** Refuse to make a commit where the user wants signed ones alone: tools.git.require_signature, and
 * commit.gpgSign of the user's own configuration. */
int al_git_check_signature(const struct al_repo *repo, struct al_error *err);

/** For a question: that no signature will be made where one is asked for; else nothing. */
void al_git_show_unsigned(const struct al_repo *repo, struct al_str *out);

/** For a result, as al_git_skipped_hooks(): that none was made where one is asked for. */
void al_git_skipped_signature(const struct al_repo *repo, struct al_str *out);

#endif
