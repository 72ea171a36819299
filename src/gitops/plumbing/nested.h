// SPDX-License-Identifier: Apache-2.0
/*
 * Repositories in the working tree of another one: submodules and others.
 *
 * What git stages for such a directory is the commit that its HEAD is at, so the directory itself
 * says nothing about it.
 *
 * Source: gitsubmodules(7), gitrepository-layout(5).
 */
#ifndef AL_GITOPS_PLUMBING_NESTED_H
#define AL_GITOPS_PLUMBING_NESTED_H

#include "gitops/repo/repo.h"

/**
 * Where a nested repository keeps what is its own, and what linked working trees share.  Nothing of
 * its configuration is read.
 *
 * @param top  Its directory, absolute.
 * @return 0; AL_ERR_NOT_FOUND when there is no `.git`; AL_ERR_SANDBOX when either directory lies
 *         outside the roots; AL_ERR_EXECUTION when `.git` leads to no directory.  Caller frees.
 */
int al_git_nested_dirs(const struct al_location *at, const char *top, char **ret_git_dir,
                       char **ret_common_dir);

/**
 * The commit a nested repository is at, read from its files; "" when it has none or keeps its
 * references in no files airlock reads.
 *
 * @param path  Its directory, absolute or relative to the working directory.
 * @return NULL when no repository inside the roots is there.  The caller frees it.
 */
char *al_git_nested_head(const struct al_location *at, const char *path);

#endif
