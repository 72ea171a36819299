// SPDX-License-Identifier: Apache-2.0
/*
 * Detect git directories of any name: bare repositories, `--separate-git-dir`, and the git
 * directories of linked worktrees and submodules.  git runs programs configured there, so airlock
 * never writes into one by a name, or with content, that an agent chose.
 *
 * The test is git's own (gitrepository-layout(5)): HEAD with objects and refs, or HEAD with
 * commondir.  Only names are compared, of any file type, and also names that a file system may take
 * for these (fold.h), so a few more directories match than git accepts.
 */
#ifndef AL_GUARD_GITDIR_H
#define AL_GUARD_GITDIR_H

#include <stdbool.h>

#include "base/error.h"

/**
 * Test whether a directory is a git directory, or becomes one when an entry is created.
 *
 * @param coming  The name of the entry to be created; NULL: none.
 */
bool al_gitdir_is(int dir_fd, const char *coming);

/**
 * Test whether a directory is a git directory, lies in one, or becomes one when the entry `coming`
 * is created.  The parents are checked by descriptor, up to the top of a working tree (a directory
 * with `.git`) or of the file system.  So a working tree inside a bare repository counts as a
 * working tree.
 */
bool al_gitdir_contains(int dir_fd, const char *coming);

/** Fail with AL_ERR_SANDBOX, AL_CODE_PROTECTED_PATH: "Protected path: <given> (inside a git
 * directory)". */
int al_gitdir_refuse(const char *given, struct al_error *err);

/** The first part of the names of the folders in which history/aside.h hides what it moved. */
#define AL_ASIDE_HIDDEN ".airlock-aside-"

/** Test whether any component of a path is `.git` in any case, a name that NTFS or HFS+ would take
 * for it, or such a folder. */
bool al_path_has_dot_git(const char *path);

/** Fail with AL_ERR_SANDBOX, AL_CODE_PROTECTED_PATH: "Protected path: <given>". */
int al_path_refuse_dot_git(const char *given, struct al_error *err);

#endif
