// SPDX-License-Identifier: Apache-2.0
/* An open store's knowledge of the records in the file `recent2`, see checkpoint/recent.h. */
#ifndef AL_CHECKPOINT_RECENT_KNOWN_H
#define AL_CHECKPOINT_RECENT_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "checkpoint/recent_file.h"
#include "checkpoint/store.h"

/** Note the reference and the objects of the record at an offset.  The record is copied. */
void al_recent_know(struct al_recent *recent, bool sha256, uint64_t at,
                    const struct al_recent_record *record);

/** The commit of a reference that is in no file of its own yet; NULL: there is none. */
const struct al_oid *al_recent_find_ref(const struct al_recent *recent, const char *name);

/** Append the fragile tips whose packs are in no other file. */
void al_recent_list_kept(const struct al_recent *recent, struct al_strv *ret_tips);

/** The number of references that are in no other file. */
size_t al_recent_count_unpublished(const struct al_recent *recent);

/** Forget the references.  The objects stay known: while the store is open, none is removed. */
void al_recent_forget_refs(struct al_recent *recent);

/** Forget everything. */
void al_recent_clear(struct al_recent *recent);

#endif
