// SPDX-License-Identifier: Apache-2.0
/*
 * Clean up commit messages that were not generated here: one that git has prepared, and one that a
 * model proposes.
 *
 * A cleaned message has a subject, an empty line after the subject if there is a body, no spaces
 * at line ends, and a newline at its end.
 */
#ifndef AL_GITOPS_MESSAGE_MESSAGE_CLEANUP_H
#define AL_GITOPS_MESSAGE_MESSAGE_CLEANUP_H

#include <stddef.h>

/** Maximum number of characters in a subject. */
#define AL_SUBJECT_MAX 72

/** Number of UTF-8 characters. */
size_t al_message_characters(const char *text);

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
