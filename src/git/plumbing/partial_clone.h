// SPDX-License-Identifier: Apache-2.0
/*
 * Partial clones, which lack some of the objects that their commits name.
 *
 * git would download a missing object.  Here it cannot, and a command that writes files has already
 * truncated the first file when it fails.
 *
 * Source: partial-clone(7) in git's technical documentation.
 */
#ifndef AL_GIT_PLUMBING_PARTIAL_CLONE_H
#define AL_GIT_PLUMBING_PARTIAL_CLONE_H

#include <stdbool.h>

#include "base/str.h"
#include "git/repo/repo.h"

/** Test whether a pack of the repository was fetched with a filter. */
bool al_repo_is_partial(const struct al_repo *repo);

/**
 * Refuse, before anything is written, when the content of a file that would be restored is missing.
 *
 * @param from   The tree to restore from; NULL: the index.
 * @param paths  An agent's words; NULL or empty: every file.
 * @return 0, also for a repository that is no partial clone; AL_ERR_EXECUTION naming the first
 *         file.
 */
int al_git_check_downloaded(const struct al_repo *repo, const char *from,
                            const struct al_strv *paths, struct al_error *err);

#endif
