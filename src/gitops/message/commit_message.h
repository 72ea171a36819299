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

/* --- File category --- */

/* The category of a file, derived from its path by common naming conventions. */

/** Categories of files. */
enum al_file_category {
    AL_CATEGORY_CODE,
    AL_CATEGORY_TEST,
    AL_CATEGORY_DOCS,
    AL_CATEGORY_BUILD,
    AL_CATEGORY_CI,
    AL_CATEGORY_CHORE
};

/** The category of a file. */
enum al_file_category al_file_category_of(const char *path);

/** The commit type that Conventional Commits uses for a change of this category alone: "feat",
 * "test", "docs", "build", "ci" or "chore". The type of a change of code depends on the change. */
const char *al_file_category_type(enum al_file_category category);

/** The scope of a change in a directory: its first component that is not mere layout ("src/auth"
 * gives "auth"); "" when there is none. Caller frees. */
char *al_file_category_scope(const char *dir);

#endif
