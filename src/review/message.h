// SPDX-License-Identifier: Apache-2.0
/*
 * The messages between a door and the queue's process: one JSON object a line.
 *
 *   the door sends               the process answers
 *
 *   {"do":"list"}                {"entry":{...},"always":"..."} for each question that waits,
 *                                oldest first; then {"end":true}
 *   {"do":"attach"}              the same; then the same line for each new question, and
 *                                {"gone":"ID"} for one that no longer waits
 *   {"do":"answer","id":"ID",    {"ok":true}, {"gone":"ID"}, or {"error":"why"} and it goes on
 *    "decision":"once"}          waiting; also "always", and "reject" with "reason", a text
 *   {"do":"text","id":"ID"}      {"text":"...","more":true} for each piece of the whole text, the
 *                                last one with false; {"gone":"ID"}; or {"error":"why"}
 *   {"do":"link"}                {"link":"http://..."}, which opens the page that the process
 *                                serves once; or {"error":"why"}
 *   anything else                {"error":"why"}, and the end
 *
 * - A door is attached as long as its connection is open.
 * - The members of an entry are those of `airlock review --list --json`.  "always" is what that
 *   answer would cover; without it the question does not offer the answer.
 * - The member "text" of an entry is what the client's form shows, an excerpt.  The whole text is
 *   made when a door asks for it, by the thread of the call, which runs git for it; other answers
 *   are given meanwhile.  A connection asks for one at a time.
 * - "ticket" in an answer or in a request for a text, an integer, comes back with every line that
 *   answers it.
 */
#ifndef AL_REVIEW_MESSAGE_H
#define AL_REVIEW_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/str.h"
#include "guard/approval.h"

struct al_review_entry;

/** The longest request in bytes, without its line end. */
#define AL_REVIEW_REQUEST_MAX_BYTES (16u << 10)

/** The longest answer of the process in bytes: an entry whose text is escaped. */
#define AL_REVIEW_LINE_MAX_BYTES (4u << 20)

/** Append an entry's line.  The caller has the lock of its queue. */
void al_review_add_entry(const struct al_review_entry *entry, struct al_str *out);

/** The longest whole text in bytes; a longer one is cut, which it says. */
#define AL_REVIEW_WHOLE_MAX_BYTES (64u << 20)

/** The longest piece of it in bytes. */
#define AL_REVIEW_PIECE_MAX_BYTES (64u << 10)

/** The verb of a request. */
enum al_review_verb {
    AL_REVIEW_LIST,
    AL_REVIEW_ATTACH,
    AL_REVIEW_ANSWER,
    AL_REVIEW_WHOLE,
    AL_REVIEW_LINK
};

/** A request.  The strings are borrowed from `body`. */
struct al_review_request {
    json_t *body;
    enum al_review_verb verb;
    const char *id; /**< of the question */
    int64_t ticket; /**< 0: none */
    enum al_answer decision;
    const char *reason; /**< NULL: none */
};

#define AL_REVIEW_REQUEST_INIT ((struct al_review_request){ .body = NULL })

void al_review_request_clear(struct al_review_request *request);

/** Read a request.  False: it is none; then *ret_problem says why. */
bool al_review_request_read(const char *line, size_t len, struct al_review_request *ret_request,
                            const char **ret_problem);

/** Append a request, without its `body`. */
void al_review_add_request(const struct al_review_request *request, struct al_str *out);

/** Append what a process answers to a request: `member` with a text, and the ticket unless it is 0.
 */
void al_review_add_reply(const char *member, const char *text, int64_t ticket, struct al_str *out);

/** Append a piece of a whole text. */
void al_review_add_piece(const char *text, size_t len, bool more, int64_t ticket,
                         struct al_str *out);

#endif
