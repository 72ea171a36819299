// SPDX-License-Identifier: Apache-2.0
/*
 * Repositories inside the working tree of another one: submodules and others.
 *
 * git stages the commit of their HEAD for such a directory, so the stat of the directory says
 * nothing about what would be staged.
 *
 * Source: gitsubmodules(7), gitrepository-layout(5).
 */
#ifndef AL_GITOPS_PLUMBING_NESTED_H
#define AL_GITOPS_PLUMBING_NESTED_H

#include "gitops/repo/repo.h"

/**
 * Find the git directory and the common directory of a nested repository.  Its configuration is not
 * read.
 *
 * @param top  Its directory, absolute.
 * @return 0; AL_ERR_NOT_FOUND when there is no `.git`; AL_ERR_SANDBOX when either directory lies
 *         outside the roots; AL_ERR_EXECUTION when `.git` leads to no directory.  Caller frees
 *         both.
 */
int al_git_nested_dirs(const struct al_location *at, const char *top, char **ret_git_dir,
                       char **ret_common_dir);

/**
 * The commit of a nested repository's HEAD, read from its files; "" when it has none or uses
 * reftable.
 *
 * @param path  Its directory, absolute or relative to the working directory.
 * @return NULL when there is no repository inside the roots.  Caller frees.
 */
char *al_git_nested_head(const struct al_location *at, const char *path);

#endif
