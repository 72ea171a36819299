// SPDX-License-Identifier: Apache-2.0
/* The base of tests of rollback: executions, as a journal would name them. */
#ifndef TESTS_UNIT_HISTORY_ROLLBACK_LIB_H
#define TESTS_UNIT_HISTORY_ROLLBACK_LIB_H

#include "history/rollback_private.h"
#include "tests/unit/history/checkpoint_lib.h"

/* Add an execution whose checkpoint before is `before`. */
static inline struct al_execution *add_execution(struct al_executions *executions,
                                                 const char *before)
{
    struct al_execution *item;

    executions->items =
        al_reallocarray(executions->items, executions->count + 1, sizeof(*executions->items));
    item = &executions->items[executions->count++];
    *item = (struct al_execution){ .seq = executions->count, .tool = al_strdup("git_test") };
    (void)snprintf(item->before, sizeof(item->before), "%s", before);
    return item;
}

/* Execute something that writes a file: a checkpoint before and one after. */
static inline struct al_execution *execute(struct saver *s, struct al_executions *executions,
                                           const char *name, const char *text)
{
    char before[AL_OID_TEXT];

    take(s, NULL);
    memcpy(before, s->id, sizeof(before));
    if (text)
        tmpdir_write(s->w->repo, name, text);
    take(s, before);
    return add_execution(executions, before);
}

/* Begin and end an execution by hand. */
static inline void begin(struct saver *s)
{
    take(s, NULL);
}

static inline struct al_execution *end(struct saver *s, struct al_executions *executions)
{
    char before[AL_OID_TEXT];

    memcpy(before, s->id, sizeof(before));
    take(s, before);
    return add_execution(executions, before);
}

#endif
