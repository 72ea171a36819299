// SPDX-License-Identifier: Apache-2.0
/*
 * Everything that waits, runs, is staged and happened: the one model that the list, the screen and
 * the page of airlock review show.
 *
 * Every entry is a JSON object as its owner wrote it: a question (review/message.h), a line of the
 * journal (docs/JOURNAL.md), a staged commit (staging/staged.h).  Nothing of it is safe for a
 * terminal or a page; whoever shows it makes it safe.
 *
 * Threads: one at a time.
 */
#ifndef AL_REVIEW_COMMAND_MODEL_H
#define AL_REVIEW_COMMAND_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/setup.h"
#include "history/journal.h"
#include "review/door.h"

/** Entries of a kind that are kept.  Older executions are in airlock log. */
#define AL_MODEL_ITEMS_MAX 1000

/** The longest key in bytes. */
#define AL_ITEM_KEY_BYTES 64

/** The kinds of entries, in the order in which they are shown. */
enum al_item_kind {
    AL_ITEM_NONE,
    AL_ITEM_QUESTION,
    AL_ITEM_RUNNING, /**< a call that does not wait for an answer */
    AL_ITEM_STAGED,  /**< of any root; its diff can be shown if it is of a root of this session */
    AL_ITEM_EXECUTION,
    AL_ITEM_KINDS
};

struct al_item {
    enum al_item_kind kind;
    char key[AL_ITEM_KEY_BYTES]; /**< names it among those of its kind, and stays the same: an id,
                                      "PID TIME", a number */
    json_t *record;
    char *path;        /**< of a call: the repository's top as it is, for programs; NULL: unknown */
    char *always;      /**< of a question: what that answer covers; NULL: it is not offered */
    uint64_t seq;      /**< of an execution */
    bool changes;      /**< an execution that has side effects; others only read */
    bool checkpointed; /**< an execution whose changes can be shown and rolled back */
};

/** Oldest first. */
struct al_item_list {
    struct al_item *items;
    size_t count;
};

struct al_model {
    struct al_item_list parts[AL_ITEM_KINDS]; /**< borrowed until the next al_model_refresh() */
    bool has_older;                           /**< there are more executions than these */
    char *problem;                            /**< why a part is missing, one line; NULL: none is */
    int fd; /**< readable (inotify) when something may have changed; -1: there is none, so
                 refresh now and then */

    /* Private. */
    const struct al_setup *setup;
    struct al_history history;
    bool follows; /* `history` was opened */
    struct al_str seen;
};

/** @param setup  After al_setup_config().  Borrowed. */
struct al_model *al_model_open(const struct al_setup *setup);

/** NULL is fine. */
void al_model_close(struct al_model *model);

/** Read what waits and what runs.  `waiting` may be NULL. */
void al_model_read_calls(struct al_model *model, const struct al_review_list *waiting);

/** Read all of it: files only, at most some MiB of them.  Returns whether anything differs from
 * before. */
bool al_model_refresh(struct al_model *model, const struct al_review_list *waiting);

/** The entries of a kind in the order in which they are shown: what waits and runs oldest first,
 * what is staged and happened newest first.  `number` is less than their count. */
const struct al_item *al_model_item(const struct al_model *model, enum al_item_kind kind,
                                    size_t number);

/** NULL: there is none.  Borrowed. */
const struct al_item *al_model_find(const struct al_model *model, enum al_item_kind kind,
                                    const char *key);

/** The newest execution with a checkpoint in the repository: what a rollback's preview was made
 * for.  0: none. */
uint64_t al_model_newest(const struct al_model *model, const char *path);

/** A member of the record; "": it has none. */
const char *al_item_get(const struct al_item *item, const char *name);

/** The name of the item. */
const char *al_item_title(const struct al_item *item);

/** Test whether it has a text somewhere, in either case of letters; and, with `only_changes`,
 * whether it is no execution that only read. */
bool al_item_matches(const struct al_item *item, const char *filter, bool only_changes);

/** Append the text that is known at once: the excerpt of a question, the answer that an agent got,
 * the message and the files of a commit. */
void al_item_add_text(const struct al_item *item, struct al_str *out);

/** Give out what else is known of it than title, text, and the risk and the reason of a question.
 * `iso` is the time that a value is; NULL: it is none. */
typedef void al_item_fact_fn(void *payload, const char *label, const char *value, const char *iso);
void al_item_facts(const struct al_item *item, al_item_fact_fn *add, void *payload);

/** A time of ISO 8601 as a user reads it: "3 minutes ago", "in 9 minutes", of another day its date
 * in local time; any other text as it is.  Caller frees. */
char *al_review_when(const char *iso);

#endif
