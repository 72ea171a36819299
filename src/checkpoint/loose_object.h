// SPDX-License-Identifier: Apache-2.0
/* Blobs in the loose form, which git gives to a new object, copied into a store without git. */
#ifndef AL_CHECKPOINT_LOOSE_OBJECT_H
#define AL_CHECKPOINT_LOOSE_OBJECT_H

#include <stdint.h>

#include "odb/objects.h"
#include "util/error.h"

/**
 * Copy a blob of a repository.  The file may be anybody's, so it is copied only if its content has
 * this id.
 *
 * @param common_fd  The common directory of the repository.
 * @param max_bytes  A larger blob, and any that is larger than 4 MiB, is left to git.
 * @return 1; 0: it is not there in this form; negative when the store cannot be written.
 *
 * Source: gitrepository-layout(5), "objects/[0-9a-f][0-9a-f]".
 */
int al_loose_object_copy(int common_fd, const struct al_oid *oid, uint64_t max_bytes,
                         struct al_objects *objects, struct al_error *err);

#endif
