// SPDX-License-Identifier: Apache-2.0
/*
 * Commit signatures: airlock makes none, and says so or refuses when the configuration asks for
 * one.
 *
 * Source: git-config(1) commit.gpgSign.
 */
#ifndef AL_GITOPS_REPO_SIGNATURE_H
#define AL_GITOPS_REPO_SIGNATURE_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/error.h"
#include "util/str.h"

/** Refuse a commit if the user accepts only signed ones: require_signature in [tools.git], and
 * commit.gpgSign in the user's own configuration. */
int al_git_check_signature(const struct al_repo *repo, struct al_error *err);

/** For an approval: append that the commit will not be signed, if the configuration asks for a
 * signature. */
void al_git_show_unsigned(const struct al_repo *repo, struct al_str *out);

/** For a result: append that the commit was not signed, if the configuration asks for a signature.
 */
void al_git_skipped_signature(const struct al_repo *repo, struct al_str *out);

#endif
