// SPDX-License-Identifier: Apache-2.0
/* Facts about all entries of an index. */
#ifndef AL_GITOPS_PLUMBING_INDEX_FACTS_H
#define AL_GITOPS_PLUMBING_INDEX_FACTS_H

#include <stdbool.h>

#include "gitops/location.h"

/** Facts about the entries of an index. */
struct al_index_facts {
    /** One is marked as unchanged or as not in the working tree: git does not look at its file. */
    bool marks;
    bool gitlinks;
    bool conflicts;  /**< one is a side of a conflict */
    bool attributes; /**< there is a .gitattributes file, at the top or in a directory */
};

/** Read the repository's index.  A fact is false only if the index was understood completely, or
 * does not exist. */
struct al_index_facts al_repo_index_facts(const struct al_location *at);

#endif
