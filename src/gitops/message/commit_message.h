// SPDX-License-Identifier: Apache-2.0
/*
 * A message for a commit that was given none, from what is staged: the same change always gives the
 * same message.
 *
 * Source: Conventional Commits 1.0.0.
 */
#ifndef AL_GITOPS_MESSAGE_COMMIT_MESSAGE_H
#define AL_GITOPS_MESSAGE_COMMIT_MESSAGE_H

#include "gitops/diff/diff_raw.h"
#include "gitops/repo/repo.h"
#include "util/str.h"

/** Characters of a subject at most. */
#define AL_SUBJECT_MAX 72

/** Append a message for these changes (at least one): a subject "type(scope): what", and a body
 * that lists the files where there is more than one to say something about. */
void al_commit_message_of_changes(const struct al_diff_raw *changes, struct al_str *out);

/**
 * The message for what is staged; the one git has prepared, while a merge, a cherry-pick or a
 * revert is being concluded.
 *
 * @param[out] ret_made  It was made here, of what is staged; may be NULL.
 * @return 0, or AL_ERR_EXECUTION with AL_CODE_NO_STAGED_CHANGES.  Caller frees *ret_message.
 */
int al_git_suggest_message(const struct al_repo *repo, struct al_run_limits *budget,
                           char **ret_message, bool *ret_generated, struct al_error *err);

/**
 * Make a proposed message fit to be a commit's: a fence of "```" around it goes, lines end without
 * blanks, the subject has at most AL_SUBJECT_MAX characters and an empty line behind it.
 *
 * @return the message, owned by the caller; NULL when it cannot be one: no subject, a longer one,
 *         control characters other than newlines, invisible ones, or more than 16 KiB.
 */
char *al_commit_message_accept(const char *proposed);

#endif
