// SPDX-License-Identifier: Apache-2.0
/*
 * A file in a working tree that makes git hang: a fifo or a device named .gitignore or
 * .gitattributes, which git opens in every directory it visits.  Nothing can stop git from opening
 * it, so the search runs after git has taken long; docs/SECURITY-MODEL.md states the remaining
 * risk.
 */
#ifndef AL_GIT_PLUMBING_BLOCKING_FILES_H
#define AL_GIT_PLUMBING_BLOCKING_FILES_H

#include "git/repo/repo.h"

/**
 * Search for such a file, nearest to the top first, without opening any file.  Gives up after
 * AL_BLOCKING_FILES_MAX_MS.
 *
 * @return One line for the user that names the file, without a period; NULL when none was found.
 *         Caller frees.
 */
char *al_git_find_blocking_file(const struct al_repo *repo);

/** The most milliseconds of a search. */
#define AL_BLOCKING_FILES_MAX_MS 500

#endif
