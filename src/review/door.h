// SPDX-License-Identifier: Apache-2.0
/*
 * A door to every process of this user that may have questions, also to those that begin later: for
 * a window that shows them, and for a command that lists or answers them.
 *
 *     struct al_review_door *door = al_review_door_new(&dirs);
 *
 *     poll(al_review_door_fd(door)) ...
 *     changes = al_review_door_run(door);
 *     if (changes & AL_DOOR_QUESTIONS)
 *         show(al_review_door_questions(door));
 *     while (al_review_door_next_reply(door, &reply)) ...
 *
 * - Nothing here blocks, whatever a process does.  A process that hangs, floods or says what it
 *   must not is let go after AL_DOOR_STALL_MS, or at once; a problem then names it.
 * - The load of processes is bounded: AL_DOOR_PROCESSES_MAX connections, for each
 *   AL_REVIEW_ENTRIES_MAX questions, one line that is being read and one request that is being
 *   sent.
 * - A door that attends holds the lock of review/place.h as long as it lives, so that `airlock
 * call` without a terminal waits for it.
 * - All text is made safe for a terminal by whoever sends it.  It is a process of this user, which
 *   may be of another version, so a window makes it safe again where it shows it.
 *
 * Threads: one at a time; and one that may create sockets (proc/proc.h), since processes that begin
 * later are connected to in al_review_door_run().
 *
 * Source: review/message.h, review/place.h, inotify(7).
 */
#ifndef AL_REVIEW_DOOR_H
#define AL_REVIEW_DOOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/json.h"
#include "base/str.h"
#include "guard/approval.h"
#include "review/queue.h"

/** Processes at once; further ones have to wait until one of them ends, which a problem says. */
#define AL_DOOR_PROCESSES_MAX 512

/** A process that takes nothing of a request, or leaves it without an answer, is let go after this
 * time in milliseconds.  A whole text may take AL_DOOR_TEXT_MS: its process runs git. */
#define AL_DOOR_STALL_MS 3000
#define AL_DOOR_TEXT_MS  120000

/** The changes in al_review_door_run(). */
enum al_door_changes {
    AL_DOOR_QUESTIONS = 1, /**< one came, or no longer waits */
    AL_DOOR_REPLIES = 2,   /**< al_review_door_next_reply() has something */
    AL_DOOR_TEXTS = 4,     /**< a whole text came, or cannot come */
    AL_DOOR_PROBLEMS = 8,  /**< al_review_door_problem() says something else */
};

struct al_review_door;

/** The whole text of a question: statistics of each file, then the diff in full. */
struct al_review_text {
    struct al_str text; /**< what came so far: whole once it is `complete` */
    bool complete;
    char *problem; /**< why it cannot be shown, one safe line; NULL: it can, or is on its way */
};

/** A question that waits. */
struct al_review_waiting {
    pid_t pid;     /**< the process it waits in */
    json_t *entry; /**< the members of review/message.h */
    char *always;  /**< what that answer covers; NULL: it is not offered */
    size_t len;    /**< of its line, in bytes */
};

/** Questions, oldest first. */
struct al_review_list {
    struct al_review_waiting *items;
    size_t count;
};

/** The question with this id; NULL: none waits.  Borrowed. */
struct al_review_waiting *al_review_list_find(const struct al_review_list *list, const char *id);

/**
 * Make a door that is attached: calls wait for it.  Directories that do not exist yet are made, so
 * that they can be watched, and so is the lock in each of them.
 *
 * @param dirs  Of the sockets; copied.
 * @return NULL with errno when descriptors ran out.  Directories that cannot be used are a problem,
 *         see al_review_door_problem().
 */
struct al_review_door *al_review_door_new(const struct al_strv *dirs);

/** Make a door that is not attached, and has seen what waits: for a command that shows or answers
 * it. */
struct al_review_door *al_review_door_peek(const struct al_strv *dirs);

/** Leave all processes and release the locks.  NULL is fine. */
void al_review_door_free(struct al_review_door *door);

/** Readable when al_review_door_run() has something to do.  Borrowed. */
int al_review_door_fd(const struct al_review_door *door);

/** Connect, read and write, as far as that is possible now.  Returns enum al_door_changes. */
unsigned al_review_door_run(struct al_review_door *door);

/** The same, once there is something to do; for a program that waits for nothing else. */
void al_review_door_wait(struct al_review_door *door);

/** The questions that wait, oldest first.  Borrowed until the next al_review_door_run(). */
const struct al_review_list *al_review_door_questions(const struct al_review_door *door);

/** Whether every process that was found when the door was made has said what waits; until then
 * "nothing waits" is not known. */
bool al_review_door_is_settled(const struct al_review_door *door);

/** The processes and directories that could not be asked, as one safe line; NULL: none.  Each stays
 * until it ends or answers.  Borrowed until the next al_review_door_run(). */
const char *al_review_door_problem(const struct al_review_door *door);

/** The fate of an answer. */
enum al_review_outcome {
    AL_REVIEW_TAKEN, /**< it counts */
    AL_REVIEW_GONE,  /**< the question no longer waits: somebody else was first, or it is over */
    AL_REVIEW_WRONG, /**< it cannot be answered like this, and goes on waiting; or its process does
                          not answer */
};

/** The result of an answer.  Released with al_review_reply_clear(). */
struct al_review_reply {
    int64_t ticket;
    char id[AL_REVIEW_ID_CHARS + 1];
    enum al_review_outcome outcome;
    char *message; /**< why, as one safe line; or the link; NULL with another AL_REVIEW_TAKEN */
};

void al_review_reply_clear(struct al_review_reply *reply);

/**
 * Answer a question.  Each answer gets exactly one reply, in a later al_review_door_run(), within
 * AL_DOOR_STALL_MS.
 *
 * @param id        Any text; a question that does not wait is AL_REVIEW_GONE.
 * @param decision  AL_ANSWER_ONCE, AL_ANSWER_ALWAYS or AL_ANSWER_REJECT.
 * @param reason    Of a rejection, any text; NULL: none.
 * @return The ticket of the reply.
 */
int64_t al_review_door_answer(struct al_review_door *door, const char *id, enum al_answer decision,
                              const char *reason);

/** Take the next reply.  False: there is none. */
bool al_review_door_next_reply(struct al_review_door *door, struct al_review_reply *ret_reply);

/** Wait for the next reply, for a program that waits for nothing else and has asked for one. */
void al_review_door_await_reply(struct al_review_door *door, struct al_review_reply *ret_reply);

/** Ask every process for a link to the page that it serves (`serve --http`).  Each has a reply.
 * Returns how many were asked. */
size_t al_review_door_ask_links(struct al_review_door *door);

/** Ask for the whole text of a question, unless it is there or on its way, and forget that of any
 * other.  The member "text" of the question is an excerpt of it.  It is of exactly the state that
 * an answer counts for. */
void al_review_door_ask_text(struct al_review_door *door, const char *id);

/** The whole text; NULL: another one was asked for last, or the question no longer waits.  Borrowed
 * until the next al_review_door_run(). */
const struct al_review_text *al_review_door_text(const struct al_review_door *door, const char *id);

#endif
