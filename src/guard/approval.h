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
#include "util/str.h"

struct al_cancel;

/** What happens to an operation that needs an approval. */
enum al_approval_mode { AL_APPROVAL_ASK, AL_APPROVAL_ALLOW, AL_APPROVAL_DENY };

/** "ask", "allow" or "deny" → the mode; -1 for anything else. */
int al_approval_mode_parse(const char *text);

/** What came back. */
enum al_answer {
    AL_ANSWER_NONE, /**< this approver cannot ask anyone; try the next */
    AL_ANSWER_ONCE,
    AL_ANSWER_ALWAYS, /**< and what `always_covers` says, until the session ends */
    AL_ANSWER_REJECT,
    AL_ANSWER_TOO_MANY, /**< nobody was asked: too many other questions wait */
    AL_ANSWER_LATER, /**< the person is asked when this call has ended; another brings the answer */
};

/** An answer, and what the user says about it. */
struct al_approval_answer {
    enum al_answer decision;
    char *reason; /**< of a rejection: one safe line; NULL when none is given */
};

#define AL_APPROVAL_ANSWER_INIT                                                                    \
    ((struct al_approval_answer){ .decision = AL_ANSWER_NONE, .reason = NULL })

void al_approval_answer_clear(struct al_approval_answer *answer);

/** Characters of a reason; what is beyond is cut. */
#define AL_APPROVAL_REASON_MAX 500

/** Characters of a summary on its line of a question; a longer one follows whole at the end. */
#define AL_APPROVAL_SUMMARY_MAX 200

/** Take what the user gives as a reason: made safe, one line, cut.  Blanks alone are no reason. */
void al_approval_answer_set_reason(struct al_approval_answer *answer, const char *text);

/** What the person is shown.  All text is safe for a terminal already.  Borrowed. */
struct al_approval_request {
    const char *tool;
    const char *operation;
    const char *summary;    /**< one line: what will happen */
    const char *detail;     /**< a diff, or what would be lost; "" when there is nothing to show */
    const char *repository; /**< canonical path of the repository's top */
    const char *risk;       /**< "low", "medium", "high" */
    const char *state; /**< digest of what the answer covers beside these: HEAD, index, files */
    /** Appends what `detail` shows an excerpt of, as safe text, while the approver asks.  NULL: the
     * detail is all there is. */
    int (*add_full)(void *payload, struct al_str *out, struct al_error *err);
    void *payload;
    const char *always_covers; /**< a noun phrase: what "always" would cover; NULL: not offered */
};

/**
 * The lines every question begins with: the summary, cut; the repository, tool and operation; what
 * "always" would cover, where it is offered.  No line of the detail can push them away.
 */
void al_approval_add_heading(const struct al_approval_request *request, struct al_str *out);

/** The whole summary, for the end of the question; nothing where the heading has all of it. */
void al_approval_add_full_summary(const struct al_approval_request *request, struct al_str *out);

/**
 * Ask.  Blocks until there is an answer or `cancel` fires.
 * @param[out] ret_answer  Set up by the caller, who clears it.
 * @return 0 with *ret_answer, AL_ERR_CANCELLED, or another failure (which counts as no answer).
 */
typedef int (*al_approver_fn)(void *payload, const struct al_approval_request *request,
                              struct al_cancel *cancel, struct al_approval_answer *ret_answer,
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
