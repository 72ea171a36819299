// SPDX-License-Identifier: Apache-2.0
/* The branch that the others are compared with and landed in. */
#ifndef AL_GITOPS_PLUMBING_DEFAULT_BRANCH_H
#define AL_GITOPS_PLUMBING_DEFAULT_BRANCH_H

#include "gitops/location.h"

/**
 * The full name of the default branch, which exists: the one that origin's HEAD had when it was
 * cloned, else main, else master, else the branch of the main working tree.  NULL: there is none.
 * Caller frees.  No git is started.
 */
char *al_git_default_branch(const struct al_location *at);

#endif
