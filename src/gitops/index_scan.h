// SPDX-License-Identifier: Apache-2.0
/* What can be told of an index from its file, without git. */
#ifndef AL_GITOPS_INDEX_SCAN_H
#define AL_GITOPS_INDEX_SCAN_H

#include <stdbool.h>

/**
 * Whether the index may have a gitlink, or entries that are not in this file.  False only for an
 * index that was understood to its end, and where there is none.
 */
bool al_index_may_have_gitlinks(const char *path);

#endif
