// SPDX-License-Identifier: Apache-2.0
/* Which executions a rollback undoes. */
#ifndef AL_HISTORY_ROLLBACK_PLAN_H
#define AL_HISTORY_ROLLBACK_PLAN_H

#include <stdbool.h>

#include "history/checkpoint.h"
#include "history/rollback_executions.h"

struct al_plan {
    size_t first; /**< index of the oldest execution that is undone, or of the rollback that is
                     continued */
    size_t oldest, end; /**< the executions whose changes are taken back: from one to before the
                           other */
    size_t count;       /**< executions that are undone, without those that are no step */
    char target[AL_OID_TEXT]; /**< the checkpoint before the oldest of them */
    uint64_t interrupted; /**< number of an execution that was interrupted; 0 when there is none */
    bool resumes;         /**< it continues a rollback that was interrupted */
};

/**
 * Plan to undo the last executions that changed something.  One that only changed what is known of
 * a remote (al_plan_tells_of_remote()) is no step, and that stays as it is.  If the last execution
 * is a rollback that was interrupted, the plan continues it, provided that `count` is its count or
 * 0.
 *
 * @param count      How many executions to undo.  0: one, or as many as the interrupted rollback.
 * @param ret_calls  The executions, newest first, as "git_add: Stage a.c"; none if the plan
 * continues a rollback.  NULL: not wanted.
 * @param ret_pushes  In the same way, pushes among them that are no step.
 * @return 0; AL_ERR_NOT_FOUND when there are not so many.  The message says how many there are.
 */
int al_plan_make(struct al_store *store, const struct al_executions *executions, size_t count,
                 struct al_run_limits *budget, struct al_plan *ret_plan, struct al_strv *ret_calls,
                 struct al_strv *ret_pushes, struct al_error *err);

/** Append "git_add: Stage a.c" for an execution. */
void al_plan_name_call(const struct al_execution *execution, struct al_strv *ret_calls);

/**
 * Plan to undo the last rollback.  A rollback that was undone already does not count, so each redo
 * undoes one rollback more.
 * @return 0; AL_ERR_NOT_FOUND when another execution came later or nothing was rolled back.
 */
int al_plan_redo(struct al_store *store, const struct al_executions *executions,
                 struct al_run_limits *budget, struct al_plan *ret_plan, struct al_error *err);

/** Test whether a change of an execution only says what is known of a remote: where its branches
 * are, and after a push which of them a branch follows.  The remote stays as it is when a call is
 * undone. */
bool al_plan_tells_of_remote(const struct al_execution *execution,
                             const struct al_difference *change);

/**
 * Plan to undo the last calls that changed something and that no rollback has undone.  What was
 * rolled back and redone counts again.  A call that only changed what is known of a remote does not
 * count.
 *
 * @param executions  Those of one session.
 * @param ret_calls   The calls, newest first: "git_add: Stage a.c".
 * @param ret_pushes  In the same way, pushes among them that do not count.
 * @return 0; AL_ERR_NOT_FOUND when there are not so many.
 */
int al_plan_undo(struct al_store *store, const struct al_executions *executions, size_t count,
                 struct al_run_limits *budget, struct al_plan *ret_plan, struct al_strv *ret_calls,
                 struct al_strv *ret_pushes, struct al_error *err);

/** Test whether the execution changed anything that a rollback takes back, with *ret_changed.  One
 * that was interrupted may have; *ret_ended tells. */
int al_plan_changed(struct al_store *store, const struct al_execution *execution,
                    struct al_run_limits *budget, bool *ret_changed, bool *ret_ended,
                    struct al_error *err);

/** Count the executions to undo in order to go one execution further back than this plan, once it
 * has been carried out.  The rollback then is an execution, too.  0 when there is nothing further
 * back. */
int al_plan_further(struct al_store *store, const struct al_executions *executions,
                    const struct al_plan *plan, struct al_run_limits *budget, size_t *ret_count,
                    struct al_error *err);

/** Plan to undo the last executions that changed something, whether or not a rollback was
 * interrupted. */
int al_plan_choose(struct al_store *store, const struct al_executions *executions, size_t count,
                   struct al_run_limits *budget, struct al_plan *ret_plan,
                   struct al_strv *ret_calls, struct al_strv *ret_pushes, struct al_error *err);

/**
 * Count the executions to undo in order to go back to before one of them.
 *
 * @param seq     Its number in the journal.
 * @param newest  The newest execution there may be; 0: any.
 * @return 0; AL_ERR_NOT_FOUND when there is none with this number; AL_ERR_EXECUTION when another
 * one came after `newest`.
 */
int al_plan_count_back_to(struct al_store *store, const struct al_executions *executions,
                          uint64_t seq, uint64_t newest, struct al_run_limits *budget,
                          size_t *ret_count, struct al_error *err);

/** Find the execution with this number in the journal.  AL_ERR_NOT_FOUND when there is none, or its
 * checkpoint is gone. */
int al_plan_find(struct al_store *store, const struct al_executions *executions, uint64_t seq,
                 size_t *ret_index, struct al_error *err);

/** Test whether the last execution is a rollback that was interrupted. */
bool al_plan_is_unfinished(const struct al_executions *executions);

/** Describe a change in words, for users.  Caller frees. */
char *al_difference_words(const struct al_difference *change);

#endif
