// SPDX-License-Identifier: Apache-2.0
/* The stash entry that a call is about. */
#ifndef AL_TOOLSETS_EVERYDAY_STASH_CHOOSE_H
#define AL_TOOLSETS_EVERYDAY_STASH_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/call.h"
#include "tool/resolved.h"

/** Names of resolved values: the id of the entry, and whose it is. */
#define AL_STASH_ENTRY "entry"
#define AL_STASH_WHOSE "entries of"

/**
 * Choose an entry: the one whose id begins so, or without an id the newest of this working tree.
 *
 * @param pops  After a push that saved nothing, there is nothing to pop.
 * @return 0; AL_ERR_EXECUTION with AL_CODE_STASH_EMPTY when there is none.
 */
int al_stash_choose(struct al_call *call, const char *id, bool pops, struct al_resolved *out,
                    struct al_error *err);

/** Parse "stash@{2}", as git numbers the entries.  False: the text has another form. */
bool al_stash_is_number(const char *id, size_t *ret_number);

#endif
