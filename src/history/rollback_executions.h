// SPDX-License-Identifier: Apache-2.0
/* The executions in the journal that a rollback could undo. */
#ifndef AL_HISTORY_ROLLBACK_EXECUTIONS_H
#define AL_HISTORY_ROLLBACK_EXECUTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/checkpoint.h"
#include "util/error.h"
#include "util/json.h"

/** An execution that has a checkpoint before it. */
struct al_execution {
    uint64_t seq;
    char *tool;
    char *session; /**< the id of the session that made the call */
    char *agent;   /**< the name of the agent; NULL when it has none */
    char *summary; /**< NULL when there is none */
    char before[AL_OID_TEXT];
    bool interrupted;
    bool redo;     /**< a rollback that undid another rollback */
    json_t *input; /**< owned; NULL unless the execution was a rollback */
};

/** Executions, oldest first. */
struct al_executions {
    struct al_execution *items;
    size_t count;
};

/**
 * Read the executions of one working tree from all files of a journal.
 *
 * @param file  The journal; it need not exist.
 * @param top   The top of the working tree, as in struct al_location.
 */
int al_executions_read(const char *file, const char *top, struct al_executions *ret_executions,
                       struct al_error *err);
void al_executions_clear(struct al_executions *executions);

/** Forget the executions of others.  What they changed then counts like any other change. */
void al_executions_keep_agent(struct al_executions *executions, const char *agent);

/** Forget the executions of other sessions, in the same way. */
void al_executions_keep_session(struct al_executions *executions, const char *session);

#endif
