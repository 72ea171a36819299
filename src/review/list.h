// SPDX-License-Identifier: Apache-2.0
/* Questions of several processes, as they came over their sockets. */
#ifndef AL_REVIEW_LIST_H
#define AL_REVIEW_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/json.h"

/** A question that waits. */
struct al_review_waiting {
    pid_t pid;     /**< the process it waits in */
    json_t *entry; /**< the members of review/message.h */
    char *always;  /**< what that answer covers; NULL: it is not offered */
    size_t len;    /**< of its line, in bytes */
};

/** Questions, oldest first.  Set up with AL_REVIEW_LIST_INIT. */
struct al_review_list {
    struct al_review_waiting *items;
    size_t count;
};

#define AL_REVIEW_LIST_INIT ((struct al_review_list){ .items = NULL })

void al_review_list_clear(struct al_review_list *list);

/** Add the question that a line of a process has (review/message.h).  False: it has none, or one
 * with an id that another question has.  `len` is that of the line, in bytes. */
bool al_review_list_add(struct al_review_list *list, pid_t pid, const json_t *line, size_t len);

/** Remove a question of a process; with NULL as its id, all of them.  False: there was none. */
bool al_review_list_remove(struct al_review_list *list, pid_t pid, const char *id);

/** The question with this id; NULL: none waits.  Borrowed. */
const struct al_review_waiting *al_review_list_find(const struct al_review_list *list,
                                                    const char *id);

#endif
