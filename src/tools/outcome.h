// SPDX-License-Identifier: Apache-2.0
/* The results of what merges and replays commits: done, or stopped at conflicts. */
#ifndef AL_TOOLS_OUTCOME_H
#define AL_TOOLS_OUTCOME_H

#include "call/call.h"
#include "verbs/sequencer/conflict.h"
#include "verbs/sequencer/merge.h"
#include "verbs/sequencer/operation_state.h"

/** Fail while an operation is in progress or there are conflicts, naming git_conflicts. */
int al_everyday_check_idle(struct al_call *call, struct al_error *err);

/** When published commits are rewritten, in words. */
#define AL_REPLAY_CONDITION "for commits that a remote-tracking branch has"

/** The result of showing conflicts: what is in progress, then each file, or those at `paths` (from
 * the top; NULL: all).  What does not fit is named. */
int al_outcome_show(struct al_call *call, const struct al_conflicts *conflicts,
                    const struct al_strv *paths, struct al_result *result, struct al_error *err);

/** Append "src/a.c (2 hunks), b.png (binary)" for files in conflict, at most 20 of them. */
int al_outcome_add_conflicts(struct al_call *call, const struct al_conflicts *conflicts,
                             struct al_str *out, struct al_error *err);

/** The result of an operation that this call has begun and that stopped at conflicts, after a line
 * of what happened: the conflicts, as al_outcome_show() shows them.  Remembers that it is this
 * session's. */
int al_outcome_stopped(struct al_call *call, struct al_result *result, struct al_error *err);

/** Append the hooks that were not run and the signature that was not made, a line each. */
void al_outcome_add_skipped(struct al_call *call, const char *const *hooks, bool commits,
                            struct al_str *text);

/** Append the files of a list, relative to the top, as al_answer_add_items(). */
void al_outcome_add_places(const struct al_repo *repo, const struct al_strv *files,
                           size_t max_bytes, struct al_str *out);

/** Append "a1b2c3d4 subject" of a commit, with what stands before and after it. */
int al_outcome_add_commit(struct al_call *call, const char *before, const char *rev,
                          const char *after, struct al_str *out, struct al_error *err);

/**
 * The result of a merge.
 *
 * @param name   What was merged, as the agent names it.
 */
int al_merged_answer(struct al_call *call, const char *name, const struct al_merge_outcome *outcome,
                     struct al_result *result, struct al_error *err);

/** Fail, naming them, while files have unstaged changes and a rebase is in progress: git does not
 * go on then, and says of it that conflicts are left. */
int al_outcome_check_unstaged(struct al_call *call, struct al_error *err);

/** Name those of these files, which had changes, that have none any more. */
void al_outcome_add_gone(struct al_call *call, const struct al_strv *files, const char *title,
                         struct al_str *text);

#endif
