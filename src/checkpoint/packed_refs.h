// SPDX-License-Identifier: Apache-2.0
/* The references of a store in one file, as `git pack-refs` writes it.  Source: git-pack-refs(1).
 */
#ifndef AL_CHECKPOINT_PACKED_REFS_H
#define AL_CHECKPOINT_PACKED_REFS_H

#include "checkpoint/store.h"
#include "util/error.h"
#include "util/str.h"

/** Add references to the file and synchronise it.  Each of `refs`, which are sorted, is
 * "<name> SP <object id>". */
int al_packed_refs_add(const struct al_store *store, const struct al_strv *refs,
                       struct al_error *err);

#endif
