// SPDX-License-Identifier: Apache-2.0
/*
 * What holds for all entries of an index.
 *
 * Whoever has read an index whole tells what it has.  It is remembered in memory, for the last few
 * indexes, until the file has other stat data or another checksum at its end.
 */
#ifndef AL_GITOPS_PLUMBING_INDEX_FACTS_H
#define AL_GITOPS_PLUMBING_INDEX_FACTS_H

#include <stdbool.h>

#include "gitops/location.h"
#include "gitops/oid.h"
#include "util/fs.h"

/** What entries of an index have. */
struct al_index_facts {
    bool marks, gitlinks, conflicts, names_only;
};

/**
 * Remember what an index has.
 *
 * @param id   The stat data of the file that was read.
 * @param end  The checksum at its end.  An index without one is not remembered.
 * Threads: any.
 */
void al_index_facts_remember(const struct al_file_id *id, const struct al_oid *end, bool sha256,
                             const struct al_index_facts *facts);

/** Test whether an entry may be marked as unchanged or as not in the working tree, so that git does
 * not look at its file.  False only if the index was understood completely, or does not exist. */
bool al_repo_may_have_marks(const struct al_location *at);

/** Test whether an entry may be a side of a conflict.  False only if the index was understood
 * completely, or does not exist. */
bool al_repo_may_have_conflicts(const struct al_location *at);

/** Test whether only the name of an entry may be staged (`git add -N`).  False only if the index
 * was understood completely, or does not exist. */
bool al_repo_may_have_names_only(const struct al_location *at);

/** Test whether the index may have a gitlink, or entries in another file.  False only if the index
 * was understood completely, or does not exist. */
bool al_index_may_have_gitlinks(const char *path);

/** al_index_may_have_gitlinks() for the repository's index.  A wrong yes costs only exec-once. */
bool al_repo_may_have_gitlinks(const struct al_location *at);

#endif
