// SPDX-License-Identifier: Apache-2.0
/*
 * What the words of a call mean: named values such as "commit" → an object id, "branch" →
 * "refs/heads/main", "address" → a URL.
 *
 * A word can mean something else a moment later.  So it is resolved once, before anybody is asked,
 * and what it was resolved to is shown, approved and run.
 */
#ifndef AL_TOOL_RESOLVED_H
#define AL_TOOL_RESOLVED_H

#include "util/str.h"

/** Names that more than one place knows: an object id, and the full name of a branch that the call
 * is about, which rules by branch look at. */
#define AL_RESOLVED_COMMIT "commit"
#define AL_RESOLVED_BRANCH "branch"

/** Names and values by turns, in the order they were added. */
struct al_resolved {
    struct al_strv pairs;
};

#define AL_RESOLVED_INIT ((struct al_resolved){ .pairs = AL_STRV_INIT })

void al_resolved_clear(struct al_resolved *resolved);

/** Add a value, a copy; NULL counts as "".  A name may be added more than once. */
void al_resolved_add(struct al_resolved *resolved, const char *name, const char *value);

/** The first value of this name, borrowed; NULL when there is none. */
const char *al_resolved_find(const struct al_resolved *resolved, const char *name);

/** Append all of them to `out`, so that two different lists never give the same bytes. */
void al_resolved_write(const struct al_resolved *resolved, struct al_str *out);

#endif
