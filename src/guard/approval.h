// SPDX-License-Identifier: Apache-2.0
/*
 * Asking a person.
 *
 * An approver is a function and its payload; the front doors (MCP elicitation, the terminal)
 * provide them.  An answer covers exactly the arguments and the repository state that were shown.
 */
#ifndef AL_GUARD_APPROVAL_H
#define AL_GUARD_APPROVAL_H

#include <stdbool.h>

#include "util/error.h"

struct al_cancel;

/** What happens to an operation that needs an approval. */
enum al_approval_mode { AL_APPROVAL_ASK, AL_APPROVAL_ALLOW, AL_APPROVAL_DENY };

/** "ask", "allow" or "deny" → the mode; -1 for anything else. */
int al_approval_mode_parse(const char *text);

/** What came back. */
enum al_answer {
    AL_ANSWER_NONE, /**< this approver cannot ask anyone; try the next */
    AL_ANSWER_ONCE,
    AL_ANSWER_ALWAYS, /**< this tool and operation in this repository, until the session ends */
    AL_ANSWER_REJECT,
    AL_ANSWER_LATER, /**< the person is asked when this call has ended; another brings the answer */
};

/** What the person is shown.  All text is safe for a terminal already.  Borrowed. */
struct al_approval_request {
    const char *tool;
    const char *operation;
    const char *summary;    /**< one line: what will happen */
    const char *detail;     /**< a diff, or what would be lost; "" when there is nothing to show */
    const char *repository; /**< canonical path of the repository's top */
    const char *risk;       /**< "low", "medium", "high" */
    const char *state; /**< digest of what the answer covers beside these: HEAD, index, files */
};

/**
 * Ask.  Blocks until there is an answer or `cancel` fires.
 * @return 0 with *ret_answer, AL_ERR_CANCELLED, or another failure (which counts as no answer).
 */
typedef int (*al_approver_fn)(void *payload, const struct al_approval_request *request,
                              struct al_cancel *cancel, enum al_answer *ret_answer,
                              struct al_error *err);

struct al_approver {
    const char *name; /**< for the journal's decided_by: "elicitation", "terminal", "review" */
    al_approver_fn ask;
    void *payload;
};

/** What "always" was answered to, for one session.  Threads: safe. */
struct al_approvals;

struct al_approvals *al_approvals_new(void);
void al_approvals_free(struct al_approvals *approvals);
/** Note an "always", and look for one. */
void al_approvals_remember(struct al_approvals *approvals, const char *tool, const char *operation,
                           const char *repository);
bool al_approvals_has(struct al_approvals *approvals, const char *tool, const char *operation,
                      const char *repository);

#endif
