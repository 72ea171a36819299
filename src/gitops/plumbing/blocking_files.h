// SPDX-License-Identifier: Apache-2.0
/*
 * What in a working tree makes git wait: a fifo or a device by the name of a file that git opens in
 * every directory it goes through.  Nothing stops git from opening it, so it is looked for when git
 * has taken long; docs/SECURITY-MODEL.md says what that leaves.
 */
#ifndef AL_GITOPS_PLUMBING_BLOCKING_FILES_H
#define AL_GITOPS_PLUMBING_BLOCKING_FILES_H

#include "gitops/repo/repo.h"

/**
 * Look for one, nearest to the top first, and open no file meanwhile.  Gives up after
 * AL_BLOCKING_FILES_MAX_MS.
 *
 * @return one line for people, which names it and has no period; NULL when none was found.  Caller
 *         frees.
 */
char *al_git_find_blocking_file(const struct al_repo *repo);

/** Milliseconds that looking may take. */
#define AL_BLOCKING_FILES_MAX_MS 500

#endif
