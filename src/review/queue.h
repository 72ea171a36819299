// SPDX-License-Identifier: Apache-2.0
/*
 * The questions of a process that wait for an approval.
 *
 * Each question can be answered at several doors: by the client's form, on the terminal, by
 * `airlock review`.  It is answered once, by whoever is first; the other doors see it vanish.
 *
 *   the thread of the call              another door
 *   al_review_begin()
 *   asks its own door, with `withdrawn` al_review_answer(): fires `withdrawn`
 *   al_review_end(): who was first
 *
 * An entry lives on the stack of the thread that asks, and borrows the question.  It is in the
 * queue while it waits, and not after that.
 *
 * Source: docs/APPROVALS.md.
 */
#ifndef AL_REVIEW_QUEUE_H
#define AL_REVIEW_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "guard/approval.h"

struct al_cancel;

/** Questions that wait at once.  Each holds one of the calls in flight; this limit leaves room for
 * other calls. */
#define AL_REVIEW_ENTRIES_MAX 128

/** The longest text of a question in bytes, for another door than the client's form; a longer one
 * is cut, which it says. */
#define AL_REVIEW_TEXT_MAX_BYTES (256u << 10)

#define AL_REVIEW_ID_CHARS       8

enum al_review_state {
    AL_REVIEW_WAITS,
    AL_REVIEW_ANSWERED,
    AL_REVIEW_OVER,      /**< nobody answered in time */
    AL_REVIEW_CANCELLED, /**< the call was cancelled */
};

/** A question that waits.  Set up by al_review_begin(), which links it. */
struct al_review_entry {
    struct al_review_entry *next;
    const struct al_approval_request *request; /**< borrowed; all text is safe for a terminal */
    const char *client;                        /**< borrowed; NULL: it has no name */
    uint64_t serial;                           /**< later questions have greater ones */
    char id[AL_REVIEW_ID_CHARS + 1];
    char time[25], deadline[25]; /**< ISO 8601 */
    int64_t deadline_ms;         /**< of al_clock_ms() */
    struct al_cancel *withdrawn; /**< fires when another door answers, in the end, and when the call
                                      is cancelled */
    int wanted_fd;               /**< readable when a door wants the whole text; -1: none can */

    /* The lock of the queue guards the members below. */
    enum al_review_state state;
    struct al_approval_answer answer;
    bool is_wanted; /**< a door waits for the whole text */
    bool is_made;   /**< `whole` is here, until a door takes it */
    bool has_whole; /**< it is the text; else why that cannot be shown */
    struct al_str whole;
};

struct al_review_queue;

/** @param wait_s  How long a question waits, in seconds: [tools.approval] wait_s. */
struct al_review_queue *al_review_queue_new(uint32_t wait_s);

/** Only when no question waits. */
void al_review_queue_free(struct al_review_queue *queue);

/** The same number. */
uint32_t al_review_wait_s(const struct al_review_queue *queue);

/**
 * Put a question into the queue.
 *
 * @param client  Of the call; NULL: it has no name.
 * @param cancel  Of the call; may be NULL.
 * @return false when AL_REVIEW_ENTRIES_MAX questions wait; al_review_end() is then not called.
 */
bool al_review_begin(struct al_review_queue *queue, const struct al_approval_request *request,
                     const char *client, struct al_cancel *cancel,
                     struct al_review_entry *ret_entry);

/** Wait for an answer of another door, for the deadline or for the call's cancellation.
 * `meanwhile` may be NULL. */
void al_review_await(struct al_review_queue *queue, struct al_review_entry *entry,
                     const struct al_meanwhile *meanwhile);

/** Test whether a door wants the whole text, and nobody has made it.  To be called when
 * entry->wanted_fd is readable, which it then is no longer. */
bool al_review_wants_text(struct al_review_queue *queue, struct al_review_entry *entry);

/** Hand the whole text over, which is then empty; or say why it cannot be shown. */
void al_review_give_text(struct al_review_queue *queue, struct al_review_entry *entry,
                         struct al_str *text, const char *problem);

/**
 * Take the question out of the queue.
 *
 * @param[out] ret_answer  The answer of another door with AL_REVIEW_ANSWERED; else unchanged.
 * @return AL_REVIEW_WAITS when no other door was first: the caller's own answer counts.
 */
enum al_review_state al_review_end(struct al_review_queue *queue, struct al_review_entry *entry,
                                   struct al_approval_answer *ret_answer);

/* The functions of the other doors.  Threads: any. */

/**
 * Answer a question.
 *
 * @param decision  AL_ANSWER_ONCE, AL_ANSWER_ALWAYS or AL_ANSWER_REJECT.
 * @param reason    Of a rejection, any text; NULL: none.
 * @return 0; AL_ERR_NOT_FOUND when no such question waits; AL_ERR_BAD_ARGS when it does not offer
 *         "always", and goes on waiting.
 */
int al_review_answer(struct al_review_queue *queue, const char *id, enum al_answer decision,
                     const char *reason, struct al_error *err);

/**
 * Append the oldest question whose serial is at least `from` as one JSON object, see
 * review/message.h.
 *
 * @return false when there is none.
 */
bool al_review_next(struct al_review_queue *queue, uint64_t from, struct al_str *out,
                    uint64_t *ret_serial, char ret_id[AL_REVIEW_ID_CHARS + 1]);

/** Test whether this question waits. */
bool al_review_has(struct al_review_queue *queue, const char *id);

/** The fate of a whole text. */
enum al_review_whole {
    AL_REVIEW_WHOLE_COMES,  /**< it is being made: ask again after the next change */
    AL_REVIEW_WHOLE_HERE,   /**< *ret_text is the text */
    AL_REVIEW_WHOLE_FAILED, /**< *ret_text says why it cannot be shown */
    AL_REVIEW_WHOLE_GONE,   /**< the question no longer waits */
};

/** Take the whole text of a question, or have it made.  `ret_text` is empty before. */
enum al_review_whole al_review_take_text(struct al_review_queue *queue, const char *id,
                                         struct al_str *ret_text);

/** End the questions whose time is over.  Returns the next deadline of al_clock_ms(); INT64_MAX:
 * none waits. */
int64_t al_review_expire(struct al_review_queue *queue);

/** A review is attached: from now on a question waits although its client cannot be asked.  Every
 * attach needs one detach. */
void al_review_attach(struct al_review_queue *queue);
void al_review_detach(struct al_review_queue *queue);

/** Test whether a review is attached, or will be (al_review_expect()). */
bool al_review_is_attached(struct al_review_queue *queue);

/**
 * Know of reviews that have not attached yet, though they attach to every process.  Before the
 * first question and after the last one.
 *
 * @param is_attended  Whether such a review lives.  Threads: any; called with the queue's lock,
 * when none is attached, so it must not call the queue.  NULL: there are none.
 */
void al_review_expect(struct al_review_queue *queue, bool (*is_attended)(void *payload),
                      void *payload);

/** An eventfd(2) that is written whenever a question begins to wait or no longer waits, or a whole
 * text is there.  Borrowed. */
int al_review_change_fd(const struct al_review_queue *queue);

#endif
