// SPDX-License-Identifier: Apache-2.0
/* A search for untracked files in a submodule: its directories against the names in its index. */
#ifndef AL_GITOPS_SUBMODULE_UNTRACKED_H
#define AL_GITOPS_SUBMODULE_UNTRACKED_H

#include "gitops/submodule/scan.h"

/** Search for a file that is not in scan->names and that no rule could ignore.  A file that a rule
 * might ignore does not count. */
void al_scan_untracked(struct al_submodule_scan *scan);

#endif
