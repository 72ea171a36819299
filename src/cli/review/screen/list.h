// SPDX-License-Identifier: Apache-2.0
/*
 * The entries on the left: what waits, what runs, the staged commits, what happened lately; each
 * part below a heading.
 */
#ifndef AL_CLI_REVIEW_SCREEN_LIST_H
#define AL_CLI_REVIEW_SCREEN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/review/overview.h"
#include "cli/review/screen/keys.h"
#include "review/door.h"

/** The longest key in bytes. */
#define AL_ENTRY_KEY_BYTES 64

/** An entry, or a heading: a row.  Text is borrowed from what the list was made of, and not made
 * safe; NULL: none. */
struct al_screen_row {
    enum al_screen_kind kind;     /**< AL_ENTRY_NONE: a heading */
    char key[AL_ENTRY_KEY_BYTES]; /**< names the entry among those of its kind; stays the same */
    const char *time, *repository, *agent, *text;
    char mark;                                /**< how it ended: ' ', '!' failed, 'x' refused */
    const struct al_review_waiting *question; /**< of AL_ENTRY_QUESTION */
    const struct al_overview_call *call;      /**< of AL_ENTRY_RUNNING and AL_ENTRY_EXECUTION */
    const struct al_overview_staged *staged;  /**< of AL_ENTRY_STAGED */
};

/** Set up with AL_SCREEN_LIST_INIT. */
struct al_screen_list {
    struct al_screen_row *rows;
    size_t count, capacity;
    size_t nwaiting, nrunning; /**< all there are, with those that the filter leaves out */
};

#define AL_SCREEN_LIST_INIT ((struct al_screen_list){ .rows = NULL })

/**
 * Make the list anew.
 *
 * @param filter        Entries that have this text nowhere are left out, in either case of letters.
 * @param only_changes  Executions that only read are left out.
 */
void al_screen_list_fill(struct al_screen_list *list, const struct al_review_list *questions,
                         const struct al_overview *overview, const char *filter, bool only_changes);

void al_screen_list_clear(struct al_screen_list *list);

/** The row of an entry; SIZE_MAX: it is not in the list. */
size_t al_screen_list_find(const struct al_screen_list *list, enum al_screen_kind kind,
                           const char *key);

/** The entry that is `by` entries from a row, as far as there are any; SIZE_MAX: there is none.
 *
 * @param row      The row that counts from; of an entry that has vanished, where it was.
 * @param is_gone  It has vanished: the entry that took its place is the first one below it. */
size_t al_screen_list_step(const struct al_screen_list *list, size_t row, bool is_gone, int by);

/** The oldest question that waits, but not this one (may be NULL); SIZE_MAX: there is none. */
size_t al_screen_list_first_question(const struct al_screen_list *list, const char *but);

/** A time as the list shows it: "14:05" of today, else "01-31"; local time. */
void al_screen_time(const char *iso, char ret_text[8]);

#endif
