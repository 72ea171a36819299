// SPDX-License-Identifier: Apache-2.0
/* A private directory of the process, outside every root: git's TMPDIR, and the configuration files
 * made for git. */
#ifndef AL_GIT_PRIVATE_DIR_H
#define AL_GIT_PRIVATE_DIR_H

#include "base/error.h"

struct al_git;

/** Create the directory, and remove those of processes that ended without; then remove it. */
int al_git_make_private_dir(struct al_git *git, const char *state_dir, struct al_error *err);
void al_git_remove_private_dir(struct al_git *git);

/** A new file name in the part of the directory that writing children may write.  The caller frees
 * the name and removes the file. */
char *al_git_private_name(struct al_git *git, const char *prefix);

#endif
