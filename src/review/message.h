// SPDX-License-Identifier: Apache-2.0
/*
 * What a door and the queue's process say to each other: one JSON object a line.
 *
 *   the door sends                                           the process answers
 *   {"do":"list"}                                            {"entry":{...},"always":"..."} for
 * each question that waits, oldest first; then
 *                                                            {"end":true}
 *   {"do":"attach"}                                          the same; then the same line for each
 *                                                            new question, and {"gone":"ID"} for
 * one that no longer waits
 *   {"do":"answer","id":"ID","decision":"once"}              {"ok":true}, {"gone":"ID"}, or
 *   ("always", "reject"; with this "reason", which is text)  {"error":"why"} and it goes on waiting
 *   anything else                                            {"error":"why"}, and the end
 *
 * - A door is attached as long as its connection is open.
 * - The members of an entry are those of `airlock review --list --json`.  "always" is what that
 *   answer would cover; without it the question does not offer the answer.
 */
#ifndef AL_REVIEW_MESSAGE_H
#define AL_REVIEW_MESSAGE_H

#include "guard/rules/approval.h"
#include "util/json.h"
#include "util/str.h"

struct al_review_entry;

/** The longest request in bytes, without its line end. */
#define AL_REVIEW_REQUEST_MAX_BYTES (16u << 10)

/** The longest answer of the process in bytes: an entry whose text is escaped. */
#define AL_REVIEW_LINE_MAX_BYTES (4u << 20)

/** Append an entry's line.  The caller has the lock of its queue. */
void al_review_add_entry(const struct al_review_entry *entry, struct al_str *out);

/** What a request asks for. */
enum al_review_verb { AL_REVIEW_LIST, AL_REVIEW_ATTACH, AL_REVIEW_ANSWER };

/** A request.  The strings are borrowed from `body`. */
struct al_review_request {
    json_t *body;
    enum al_review_verb verb;
    const char *id; /**< of an answer */
    enum al_answer decision;
    const char *reason; /**< NULL: none */
};

#define AL_REVIEW_REQUEST_INIT ((struct al_review_request){ .body = NULL })

void al_review_request_clear(struct al_review_request *request);

/** Read a request.  False: it is none; then *ret_problem says why. */
bool al_review_request_read(const char *line, size_t len, struct al_review_request *ret_request,
                            const char **ret_problem);

/** Append the request for an answer.  `reason` may be NULL. */
void al_review_add_answer(const char *id, enum al_answer decision, const char *reason,
                          struct al_str *out);

#endif
