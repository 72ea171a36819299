// SPDX-License-Identifier: Apache-2.0
/*
 * Generate a commit message from the staged changes.  The same changes always give the same
 * message.
 *
 * Source: Conventional Commits 1.0.0.
 */
#ifndef AL_GITOPS_MESSAGE_COMMIT_MESSAGE_H
#define AL_GITOPS_MESSAGE_COMMIT_MESSAGE_H

#include "gitops/diff/diff_raw.h"
#include "gitops/repo/repo.h"
#include "util/str.h"

/** Maximum number of characters in a subject. */
#define AL_SUBJECT_MAX 72

/** Append a message for these changes (at least one): a subject "type(scope): what", and a body
 * that lists the files unless the subject says everything. */
void al_commit_message_of_changes(const struct al_diff_raw *changes, struct al_str *out);

/**
 * Generate a message for the staged changes.  While a merge, a cherry-pick or a revert is in
 * progress the message is the one that git has prepared.
 *
 * @param[out] ret_generated  Whether the message was generated from the changes; may be NULL.
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
