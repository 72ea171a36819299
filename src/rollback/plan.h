// SPDX-License-Identifier: Apache-2.0
/* Which checkpoint a rollback goes back to, and whose work would be lost by it. */
#ifndef AL_ROLLBACK_PLAN_H
#define AL_ROLLBACK_PLAN_H

#include <stdbool.h>

#include "checkpoint/checkpoint.h"
#include "rollback/executions.h"

struct al_plan {
    size_t first;             /**< the oldest execution that is undone */
    size_t count;             /**< how many are, those that changed nothing left out */
    char target[AL_OID_TEXT]; /**< the checkpoint to go back to */
    uint64_t interrupted;     /**< number of one that never ended; 0 when all did */
    bool resumes;             /**< goes on with a rollback that was interrupted */
};

/**
 * Choose.  A rollback that was interrupted is gone on with by the same rollback, or by one that
 * does not say how many.
 *
 * @param count  How many executions; 0: one, or what an interrupted rollback was to undo.
 * @return 0; AL_ERR_NOT_FOUND when there are not so many, with a message that says how many there
 *         are.
 */
int al_plan_make(struct al_store *store, const struct al_executions *executions, size_t count,
                 struct al_run_limits *budget, struct al_plan *ret_plan, struct al_error *err);

/**
 * Choose what the last rollback was made from, so that it is undone.  One that was undone already
 * does not count, so that each redo goes one rollback further forward.
 * @return 0; AL_ERR_NOT_FOUND when something else was executed since, or nothing was rolled back.
 */
int al_plan_redo(struct al_store *store, const struct al_executions *executions,
                 struct al_run_limits *budget, struct al_plan *ret_plan, struct al_error *err);

/** How many executions a plan that goes one further back will have to undo when this one, itself
 * an execution by then, is done; 0 when there is nothing further back. */
int al_plan_further(struct al_store *store, const struct al_executions *executions,
                    const struct al_plan *plan, struct al_run_limits *budget, size_t *ret_count,
                    struct al_error *err);

/** The same without a thought for interrupted rollbacks: the last executions that changed
 * something.
 */
int al_plan_choose(struct al_store *store, const struct al_executions *executions, size_t count,
                   struct al_run_limits *budget, struct al_plan *ret_plan, struct al_error *err);

/** Whether the last execution is a rollback that was interrupted. */
bool al_plan_is_unfinished(const struct al_executions *executions);

/**
 * Name what somebody else changed since the oldest of the executions and what going back to the
 * target takes away again.
 *
 * @param present   A checkpoint of the repository as it is.
 * @param leftover  The name of temporary files of an interrupted rollback; nobody's work.  "" for
 *                  none.
 * @param ret_lost  Names are appended, each of them once.
 */
int al_plan_check(struct al_store *store, const struct al_executions *executions,
                  const struct al_plan *plan, const char *present, const char *leftover,
                  struct al_run_limits *budget, struct al_strv *ret_lost, struct al_error *err);

/** A change in words, for people.  Caller frees. */
char *al_difference_words(const struct al_difference *change);

#endif
