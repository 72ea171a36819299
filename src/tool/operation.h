// SPDX-License-Identifier: Apache-2.0
/*
 * The operations of a tool: what it can do, with which effects, and whether the user is asked.
 * Approval, policy rules, checkpoints and the journal read these rows.
 */
#ifndef AL_TOOL_OPERATION_H
#define AL_TOOL_OPERATION_H

#include <stdbool.h>

#include "guard/rules/effects.h"
#include "util/error.h"

struct al_call;
struct al_result;

/** The need of an operation for an approval, when no rule of the user's matches. */
enum al_asks {
    AL_ASKS_BY_EFFECTS, /**< when it changes the repository */
    AL_ASKS_ALWAYS,
    AL_ASKS_NEVER,
    /** When no checkpoint can be taken of what it changes: the session takes none, the repository
     * has no working tree, or saving fails.  What a checkpoint has is brought back, not asked
     * about.  The approval mode "deny" refuses it all the same. */
    AL_ASKS_UNLESS_SAVED,
};

/** The references that an operation with AL_WRITES_REFS can move.  Any other that changed meanwhile
 * was changed by another program, and a rollback leaves it. */
enum al_moves {
    AL_MOVES_HEAD = 1 << 0,   /**< HEAD: to another branch, or detached */
    AL_MOVES_BRANCH = 1 << 1, /**< the branch that HEAD is on, or a detached HEAD */
    AL_MOVES_NAMED = 1 << 2,  /**< the branches that arguments with AL_PARAM_BRANCH name */
    AL_MOVES_STASH = 1 << 3,  /**< the stash */
    AL_MOVES_NEW = 1 << 4,    /**< the named branches, if they are not there yet */
};

/** One thing a tool can do. */
struct al_operation {
    const char *name; /**< as the journal and policy rules spell it */
    /** Stage 3: whether the call is this operation.  The call knows its session and, if there is
     * one, its repository (al_call_repo()); the grant has not been checked yet.  NULL: always, for
     * the last row alone. */
    bool (*applies)(const struct al_call *call, const void *args);
    unsigned effects; /**< enum al_effects */
    /** Stage 7: do it. */
    int (*execute)(struct al_call *call, const void *args, struct al_result *result,
                   struct al_error *err);
    enum al_asks asks;
};

/** A stricter form of an operation, for calls whose real effects only the repository shows.
 * `airlock tools` and policy rules see the plain operation. */
struct al_stricter {
    struct al_operation operation; /**< has the plain operation's name; its `applies` is not used */
    bool (*holds)(struct al_call *call, const void *args); /**< asked at the end of stage 4 */
    const char *condition; /**< the same in words, printed after "asks": "for …" */
};

/** Test whether an operation needs an approval when no rule matches.
 *
 * @param saves  Whether a checkpoint is taken before a call. */
bool al_operation_asks(const struct al_operation *op, bool saves);

/** Test whether an operation may destroy something that nothing brings back. */
bool al_operation_destroys(const struct al_operation *op, bool saves);

#endif
