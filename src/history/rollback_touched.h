// SPDX-License-Identifier: Apache-2.0
/*
 * What some executions changed, and only that.
 *
 * A rollback gives each of these things the value that it had before the first of the executions
 * that changed it.  Everything else in the repository stays as it is now.
 *
 *   the value now is                    then going back
 *
 *   that of the target                  leaves it
 *   as the last execution left it       restores it
 *   another one                         would lose it: somebody else changed it since
 */
#ifndef AL_HISTORY_ROLLBACK_TOUCHED_H
#define AL_HISTORY_ROLLBACK_TOUCHED_H

#include <stdbool.h>

#include "history/checkpoint.h"
#include "history/rollback_executions.h"
#include "history/rollback_plan.h"
#include "history/rollback_way_back.h"

/** The changes that each execution made. */
struct al_touched {
    const struct al_executions *executions; /**< borrowed */
    size_t first, count;                    /**< which of them */
    struct al_differences *each;            /**< one for each; empty if it was interrupted */
    bool *interrupted;                      /**< one for each: there is no checkpoint after it */
};

/** Read the changes of the executions that a plan undoes. */
int al_touched_read(struct al_store *store, const struct al_executions *executions,
                    const struct al_plan *plan, struct al_run_limits *budget,
                    struct al_touched *ret_touched, struct al_error *err);
void al_touched_clear(struct al_touched *touched);

/** Test whether a checkpoint has every part that another one has.  It can then
 * take the place of the one after an execution that was interrupted. */
bool al_touched_has_parts(struct al_store *store, const char *id, const char *other,
                          struct al_run_limits *budget);

/** The parts that a checkpoint of the present may be without (enum al_checkpoint_parts). */
unsigned al_touched_without(const struct al_touched *touched);

/**
 * Find the way back from the present.
 *
 * @param present   A checkpoint of the repository as it is now.
 * @param ret_lost  Changes in words that no execution made and that going back undoes, each once.
 */
int al_touched_way_back(struct al_store *store, struct al_touched *touched,
                        const struct al_plan *plan, const char *present,
                        struct al_run_limits *budget, struct al_way_back *ret_way,
                        struct al_strv *ret_lost, struct al_error *err);

#endif
