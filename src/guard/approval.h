// SPDX-License-Identifier: Apache-2.0
/*
 * Asking a user for approval.
 *
 * An approver is a function and its payload.  MCP elicitation and the terminal provide approvers.
 * An answer is valid only for the arguments and the repository state that the user was shown.
 */
#ifndef AL_GUARD_APPROVAL_H
#define AL_GUARD_APPROVAL_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct al_cancel;

/** The answer to an operation that needs an approval and that no rule matches. */
enum al_approval_mode { AL_APPROVAL_ASK, AL_APPROVAL_ALLOW, AL_APPROVAL_DENY };

/** The name of a mode: "ask", "allow" or "deny". */
const char *al_approval_mode_name(enum al_approval_mode mode);

/** The decision in an answer. */
enum al_answer {
    AL_ANSWER_NONE, /**< this approver cannot ask; try the next */
    AL_ANSWER_ONCE,
    AL_ANSWER_ALWAYS, /**< this call, and what `always_covers` says until the session ends */
    AL_ANSWER_REJECT,
    AL_ANSWER_TOO_MANY, /**< not asked: too many other questions are pending */
    AL_ANSWER_LATER,    /**< the user is asked after this call has ended; a later call brings the
                           answer */
};

/** "once", "always" and "reject"; NULL for others, AL_ANSWER_NONE for other words and NULL. */
const char *al_answer_word(enum al_answer answer);
enum al_answer al_answer_of(const char *word);

/** An answer, with the user's reason. */
struct al_approval_answer {
    enum al_answer decision;
    char *reason; /**< of a rejection: one safe line; NULL: none given */
};

#define AL_APPROVAL_ANSWER_INIT                                                                    \
    ((struct al_approval_answer){ .decision = AL_ANSWER_NONE, .reason = NULL })

void al_approval_answer_clear(struct al_approval_answer *answer);

/** The longest reason in characters; longer ones are cut. */
#define AL_APPROVAL_REASON_MAX 500

/** The longest summary in characters in the heading of a question; a longer one is cut there and
 * repeated in full at the end. */
#define AL_APPROVAL_SUMMARY_MAX 200

/** Set the reason from the user's text: sanitized, on one line, cut.  Blank text is no reason. */
void al_approval_answer_set_reason(struct al_approval_answer *answer, const char *text);

/** The work of a call's thread while it waits for the user: run(payload) whenever `fd` is readable.
 * It may take seconds. */
struct al_meanwhile {
    int fd;
    void (*run)(void *payload);
    void *payload;
};

/** A question for the user.  All text is safe for a terminal.  Borrowed. */
struct al_approval_request {
    const char *tool;
    const char *operation;
    const char *summary; /**< one line: what will happen */
    const char *detail;  /**< a diff, or what would be lost; "" when there is nothing to show */
    /** The part of `detail` that a terminal puts into a frame with the keys, after the rest.  A
     * length of 0: none. */
    size_t framed_at, framed_len;
    const char *repository; /**< canonical path of the repository's top */
    const char *risk;       /**< "low", "medium", "high" */
    const char *state;      /**< digest of the state the answer is valid for: HEAD, index, files */
    /** Append in full what `detail` may show only an excerpt of, as safe text.  Called while the
     * approver asks.  NULL: `detail` is complete. */
    int (*add_full)(void *payload, struct al_str *out, struct al_error *err);
    void *payload;
    const char *agent;         /**< who asks; NULL: it has no name */
    const char *why;           /**< the rule or the effects that ask; NULL: not told */
    const char *always_covers; /**< noun phrase: what "always" would cover; NULL: not offered */
    const struct al_meanwhile *meanwhile; /**< NULL: there is nothing else to do */
};

/** Append the lines every question begins with: the summary, cut; repository, tool and operation;
 * why it asks; and what "always" would cover, if it is offered.  The detail comes after these lines
 * and cannot push them away. */
void al_approval_add_heading(const struct al_approval_request *request, struct al_str *out);

/** Append the full summary, for the end of the question; nothing if the heading has all of it. */
void al_approval_add_full_summary(const struct al_approval_request *request, struct al_str *out);

/**
 * Ask the user.  Blocks until there is an answer or `cancel` fires; does what `meanwhile` says as
 * long as that is possible.
 * @param[out] ret_answer  Initialised and cleared by the caller.
 * @return 0 with *ret_answer; AL_ERR_CANCELLED; or another failure, which counts as no answer.
 */
typedef int (*al_approver_fn)(void *payload, const struct al_approval_request *request,
                              struct al_cancel *cancel, struct al_approval_answer *ret_answer,
                              struct al_error *err);

struct al_approver {
    const char *name; /**< for the journal's decided_by: "elicitation", "terminal", "review" */
    al_approver_fn ask;
    void *payload;
    bool ends_call;  /**< it asks by ending the call, which is repeated with the answer */
    bool has_answer; /**< with `ends_call`: this call has brought an answer */
};

/** The "always" answers of one session.  Threads: safe. */
struct al_approvals;

/**
 * @param file  Where they are kept, for the other processes of the session: "always-ID".  One
 *              that no answer was added to for a day is that of a session which has ended; it does
 *              not count, and goes with the next answer.  NULL: nowhere.
 */
struct al_approvals *al_approvals_new(const char *file);
void al_approvals_free(struct al_approvals *approvals);

/** Remember an "always".  `operation` also has the limits of the answer. */
void al_approvals_remember(struct al_approvals *approvals, const char *tool, const char *operation,
                           const char *repository);

/** Test whether an "always" is remembered for exactly these values. */
bool al_approvals_has(struct al_approvals *approvals, const char *tool, const char *operation,
                      const char *repository);

#endif
