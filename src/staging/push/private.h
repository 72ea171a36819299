// SPDX-License-Identifier: Apache-2.0
/* The steps of a push, for push/ only. */
#ifndef AL_STAGING_PUSH_PRIVATE_H
#define AL_STAGING_PUSH_PRIVATE_H

#include "git/plumbing/bare.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "staging/push/push.h"
#include "staging/staging.h"
#include "verbs/landing/landing.h"

/** The staged file of this path; SIZE_MAX: there is none. */
size_t al_push_find_file(const struct al_push *push, const char *path);

/** The id of the parent of the new commit, or of the tree without entries. */
const char *al_push_from(const struct al_push *push);

/** Make the directory, after removing what killed processes left. */
int al_push_dir_make(struct al_push *push);

/** Remove the directory, if it was made. */
void al_push_dir_remove(struct al_push *push);

/** Run a git in the store, with a sink for standard output. */
int al_push_git_sink(const struct al_push *push, struct al_git_command *command,
                     struct al_sink sink);

/** Read `author`, see docs/STAGING.md, and `refusal` from the target's configuration. */
int al_push_read_settings(struct al_push *push);

/** Find out why the target would refuse: *ret_refusal is NULL when it would not.  Caller frees. */
int al_push_find_refusal(struct al_push *push, char **ret_refusal);

/** Find what the question and the result say about the files: `lfs` and `other`.  After
 * al_push_build(). */
int al_push_find_remarks(struct al_push *push);

/** Add what the result of a push says about them, safe lines. */
void al_push_note_remarks(const struct al_push *push, struct al_strv *notes);

/** Refuse files in a git directory of the working tree. */
int al_push_check_gitdirs(const struct al_push *push);

/** Refuse files in a directory that is a git directory in the tree that the commit will have. */
int al_push_check_tree(const struct al_push *push, const struct al_sandbox_files *files);

/** Build the commit in the store, and find what is to be said about its files.  The caller frees
 * it.  AL_ERR_EXECUTION also when the target has these changes already. */
int al_push_build(struct al_push *push, char **ret_commit);

#endif
