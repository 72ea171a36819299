// SPDX-License-Identifier: Apache-2.0
/*
 * Generate a commit message from the staged changes.  The same changes always give the same
 * message.
 *
 * Source: Conventional Commits 1.0.0.
 */
#ifndef AL_VERBS_MESSAGE_COMMIT_MESSAGE_H
#define AL_VERBS_MESSAGE_COMMIT_MESSAGE_H

#include <stddef.h>

#include "base/str.h"
#include "git/plumbing/diff_raw.h"
#include "git/repo/repo.h"

/** Append a message for these changes (at least one): a subject "type(scope): what", and a body
 * that lists the files unless the subject says everything. */
void al_commit_message_of_changes(const struct al_diff_raw *changes, struct al_str *out);

/**
 * Generate a message for the staged changes.  The message is the one that git has prepared while a
 * merge, a cherry-pick or a revert is in progress.
 *
 * @param[out] ret_generated  Whether the message was generated from the changes; may be NULL.
 * @return 0, or AL_ERR_EXECUTION with AL_CODE_NO_STAGED_CHANGES.  Caller frees *ret_message.
 */
int al_git_suggest_message(const struct al_repo *repo, char **ret_message, bool *ret_generated,
                           struct al_error *err);

/* --- Message cleanup --- */

/*
 * Clean up commit messages that were not generated here: one that git has prepared, and one that a
 * model proposes.
 *
 * A cleaned message has a subject, an empty line after the subject if there is a body, no spaces
 * at line ends, and a newline at its end.
 */

/** Maximum number of characters in a subject. */
#define AL_SUBJECT_MAX 72

/**
 * Clean up a message that git has prepared (al_git_prepared_message()).  Its lines are sanitized.
 *
 * @return the message, owned by the caller; NULL when nothing is left.
 */
char *al_message_clean_prepared(const char *text);

/**
 * Clean up a proposed message, and check it.  A code fence around the message is removed.
 *
 * @return the message, owned by the caller; NULL when there is no subject or it has more than
 *         AL_SUBJECT_MAX characters, when there are control characters other than newlines or
 *         invisible characters, or when the message has more than 16 KiB.
 */
char *al_commit_message_accept(const char *proposed);

#endif
