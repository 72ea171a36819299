// SPDX-License-Identifier: Apache-2.0
/*
 * Scratch indexes: copies of a repository's index on which git stages, commits or resets without
 * the index itself being touched.  They are in the private directory that writing children may
 * write.
 *
 * Source: git(1) "GIT_INDEX_FILE".
 */
#ifndef AL_GITOPS_PLUMBING_SCRATCH_INDEX_H
#define AL_GITOPS_PLUMBING_SCRATCH_INDEX_H

#include "gitops/repo/repo.h"

/**
 * Copy an index file.
 *
 * @param from      The file; NULL: the repository's own, which need not exist.
 * @param ret_path  The copy.  The caller removes and frees it with al_scratch_index_removep().
 */
int al_scratch_index_make(const struct al_repo *repo, const char *from, char **ret_path,
                          struct al_error *err);

/** Put a scratch index in the place of the repository's own, under git's lock.  With the write lock
 * held. */
int al_scratch_index_install(const struct al_repo *repo, const char *path, struct al_error *err);

/** Remove the file, and free its name.  Takes the address of the variable. */
void al_scratch_index_removep(char **path);

#endif
