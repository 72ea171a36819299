// SPDX-License-Identifier: Apache-2.0
/* The references of a repository as a checkpoint has them. */
#ifndef AL_HISTORY_REFS_H
#define AL_HISTORY_REFS_H

#include <stdbool.h>
#include <stddef.h>

#include "history/checkpoint.h"

/** One reference.  `value` is an object id, or "ref: <name>" for a symbolic reference. */
struct al_saved_ref {
    char *name, *value;
};

/** References, sorted by name.  Zero-initialised is empty. */
struct al_refs {
    struct al_saved_ref *items;
    size_t count, capacity;
};

void al_refs_clear(struct al_refs *refs);

/** Parse the references as a checkpoint has them: "<value> SP <name>" LF each.  False when the text
 * is not in that form. */
bool al_refs_parse(const char *text, size_t len, struct al_refs *ret_refs);

/** The value of a reference whose file has this text: an object id or "ref: <name>".  NULL when the
 * text is neither.  Caller frees. */
char *al_ref_value(const char *text, bool sha256);

#endif
