// SPDX-License-Identifier: Apache-2.0
/*
 * The values that the arguments of a call resolve to, by name, such as "commit" → an object id,
 * "branch" → "refs/heads/main", "address" → a URL.
 *
 * A name can mean something else a moment later.  So arguments are resolved once, before the user
 * is asked; the resolved values are shown, approved and run.
 */
#ifndef AL_CALL_RESOLVED_H
#define AL_CALL_RESOLVED_H

#include "base/str.h"

/** Names of values that are used outside the tool: an object id, the full name of the branch that
 * rules by branch look at, and where a transfer leads; the last one is there where one of these is
 * new in this session and nobody has agreed to it. */
#define AL_RESOLVED_COMMIT      "commit"
#define AL_RESOLVED_BRANCH      "branch"
#define AL_RESOLVED_ADDRESS     "address"
#define AL_RESOLVED_NEW_ADDRESS "new_address"

/** Alternating names and values, in the order they were added. */
struct al_resolved {
    struct al_strv pairs;
};

#define AL_RESOLVED_INIT ((struct al_resolved){ .pairs = AL_STRV_INIT })

/** Add a value, a copy; NULL counts as "".  A name may be added more than once. */
void al_resolved_add(struct al_resolved *resolved, const char *name, const char *value);

/** The first value of this name; NULL when there is none.  Borrowed. */
const char *al_resolved_find(const struct al_resolved *resolved, const char *name);

#endif
