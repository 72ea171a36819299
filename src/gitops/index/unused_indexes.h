// SPDX-License-Identifier: Apache-2.0
/* Removing private indexes that nobody uses, and the oldest ones beyond the limits. */
#ifndef AL_GITOPS_INDEX_UNUSED_INDEXES_H
#define AL_GITOPS_INDEX_UNUSED_INDEXES_H

#include <stdint.h>

/** The most private indexes that are kept, and their bytes together; each process may have a few
 * more in use. */
#define AL_INDEXES_MAX       64u
#define AL_INDEXES_MAX_BYTES (INT64_C(512) << 20)

/** A private index that was not used for so long is removed. */
#define AL_INDEXES_MAX_AGE_S (INT64_C(30) * 24 * 3600)

/** Remove the stores below `dir` whose working tree is gone, which are too old, or which are beyond
 * the limits, the longest unused first.  A store that a process has open stays. */
void al_indexes_remove_unused(const char *dir);

#endif
