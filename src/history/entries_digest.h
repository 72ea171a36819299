// SPDX-License-Identifier: Apache-2.0
/*
 * The digest of an index's entries: equal entries have equal digests, whatever else the index has.
 *
 * It is the SHA-256 of a line for each entry, as `git ls-files -v -s` has it, with a NUL after the
 * path.
 */
#ifndef AL_HISTORY_ENTRIES_DIGEST_H
#define AL_HISTORY_ENTRIES_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/oid.h"

/** Compute the digest from the bytes of an index file, or of none.  False if only git can read the
 * index. */
bool al_entries_digest(const void *index, size_t len, bool sha256, struct al_oid *ret_digest);

/** Make entries of which only the name is staged (intent-to-add) part of a digest, if there are
 * any: git lists them like empty files. */
void al_entries_add_names_only(const void *index, size_t len, bool sha256, struct al_oid *digest);

#endif
