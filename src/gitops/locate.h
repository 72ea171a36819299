// SPDX-License-Identifier: Apache-2.0
/* Finding the parts of a repository, each inside the roots. */
#ifndef AL_GITOPS_LOCATE_H
#define AL_GITOPS_LOCATE_H

#include "gitops/repo.h"

/**
 * Fill repo->top, git_dir and common_dir from repo->dir upwards, as git's own discovery does, but
 * never beyond repo->root; check alternates and owners' uids apart.
 *
 * @param given  The agent's words, for messages.
 */
int al_repo_locate(struct al_repo *repo, const struct al_roots *roots, const char *given,
                   struct al_error *err);

/** The same for repo->dir alone, which may be a bare repository: top is then git_dir. */
int al_repo_locate_at(struct al_repo *repo, const struct al_roots *roots, const char *given,
                      struct al_error *err);

/** True when top, `.git` and the git directory belong to the person. */
bool al_repo_is_owned(const struct al_repo *repo);

/** What to do about a bare repository. */
extern const char al_git_bare_remedy[];

/** Whether a directory is a git directory by itself, as a bare repository is. */
bool al_git_is_bare_dir(const char *dir);

#endif
