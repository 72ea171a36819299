// SPDX-License-Identifier: Apache-2.0
/* The repository's own index, as the source of a private one. */
#ifndef AL_GITOPS_INDEX_INDEX_SOURCE_H
#define AL_GITOPS_INDEX_INDEX_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "gitops/location.h"
#include "gitops/vet/vet.h"
#include "util/fs.h"

#define AL_INDEX_DIGEST_BYTES 32

/** The index that a private index is a copy of. */
struct al_index_source {
    struct al_file_id id;                  /**< of the repository's index */
    uint8_t config[AL_INDEX_DIGEST_BYTES]; /**< of the configuration that git read it with */
};

/** Set the id of the repository's index; false when it is no regular file of the user, or too large
 * to be copied. */
bool al_index_source_find(const struct al_location *at, struct al_index_source *source);

/** Set the digest of the configuration: with another one git might take other files for ignored, or
 * for changed. */
void al_index_source_digest(const struct al_vetting *vetting, struct al_index_source *source);

/** Test whether the index is old enough to be told by its stat.  One that changed just now may
 * change again with the same stat. */
bool al_index_source_is_settled(const struct al_index_source *source);

/** Open the repository's index; no link is followed.  -1 when it cannot be opened. */
int al_index_source_open(const struct al_location *at, struct stat *ret_stat);

#endif
