// SPDX-License-Identifier: Apache-2.0
/*
 * Directories that git takes for a git directory, whatever they are called: bare repositories,
 * `--separate-git-dir`, those of linked worktrees and of submodules.  What airlock writes by an
 * agent's name or with an agent's content never goes into one: git runs what is configured there.
 *
 * The test is git's own (gitrepository-layout(5)): HEAD with objects and refs, or with commondir.
 * By the names that are there, of whatever type, in any case: a few directories more than git's.
 */
#ifndef AL_GUARD_GITDIR_H
#define AL_GUARD_GITDIR_H

#include <stdbool.h>

#include "util/error.h"

/**
 * Whether a directory is a git directory, or becomes one with an entry of this name.
 *
 * @param coming  The name of an entry that is to be made; NULL: none.
 */
bool al_gitdir_is(int dir_fd, const char *coming);

/**
 * Whether a directory is, or becomes with `coming`, or lies in a git directory.  It is gone up by
 * descriptor, to the top of a working tree (a directory with a `.git`) or of the file system, so
 * that a working tree inside a bare repository is a working tree.
 */
bool al_gitdir_holds(int dir_fd, const char *coming);

/** AL_ERR_SANDBOX with AL_CODE_PROTECTED_PATH: "Protected path: <given> (inside a git directory)".
 */
int al_gitdir_refuse(const char *given, struct al_error *err);

#endif
