// SPDX-License-Identifier: Apache-2.0
/*
 * Repositories in the working tree of another one: submodules and others.
 *
 * What git stages for such a directory is the commit that its HEAD is at, so the directory itself
 * says nothing about it.
 *
 * Source: gitsubmodules(7), gitrepository-layout(5).
 */
#ifndef AL_GITOPS_NESTED_H
#define AL_GITOPS_NESTED_H

#include "gitops/repo.h"

/**
 * The commit a nested repository is at, read from its files; "" when it has none or keeps its
 * references in no files airlock reads.
 *
 * @param path  Its directory, absolute or relative to the working directory.
 * @return NULL when no repository inside the roots is there.  The caller frees it.
 */
char *al_git_nested_head(const struct al_repo *repo, const char *path);

#endif
