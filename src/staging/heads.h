// SPDX-License-Identifier: Apache-2.0
/* The commits that files of a sandbox are based on: one for each target and branch. */
#ifndef AL_STAGING_HEADS_H
#define AL_STAGING_HEADS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/json.h"

/** A branch of a target, and the commit that files were pulled at or pushed to. */
struct al_head {
    char *target; /**< al_target_key(): "local:/abs/path", "github:user/name" */
    char *branch; /**< the full name, "refs/heads/main" */
    char *commit; /**< hex, in the object format of the target */
};

/** At most one head for each target and branch.  Zero-initialised, it is empty. */
struct al_heads {
    struct al_head *items;
    size_t count;
};

void al_heads_clear(struct al_heads *heads);

/** Copy the heads. */
void al_heads_copy(const struct al_heads *from, struct al_heads *ret_heads);

/** The commit that is known for a branch; NULL: none.  Borrowed until the heads change. */
const char *al_heads_find(const struct al_heads *heads, const char *target, const char *branch);

/** Test whether two lists have another commit for the same branch. */
bool al_heads_differ(const struct al_heads *heads, const struct al_heads *others);

/** Record the commit of a branch.  The strings are copied. */
void al_heads_set(struct al_heads *heads, const char *target, const char *branch,
                  const char *commit);

/** As an array of `{target, branch, head}`.  Caller owns the reference. */
json_t *al_heads_to_json(const struct al_heads *heads);

/** Read such an array; what is no such object is left out. */
void al_heads_from_json(const json_t *array, struct al_heads *ret_heads);

#endif
