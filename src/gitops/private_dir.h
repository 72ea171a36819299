// SPDX-License-Identifier: Apache-2.0
/* A directory of our own, outside every root: git's TMPDIR and the configuration files made for it.
 */
#ifndef AL_GITOPS_PRIVATE_DIR_H
#define AL_GITOPS_PRIVATE_DIR_H

#include "util/error.h"

struct al_git;

/** Make and remove it, and remove what earlier servers left behind. */
int al_git_make_private_dir(struct al_git *git, const char *state_dir, struct al_error *err);
void al_git_remove_private_dir(struct al_git *git);

/** A new name for a file in the part of the private directory that writing children may write.
 * Caller frees, and removes the file. */
char *al_git_private_name(struct al_git *git, const char *prefix);

#endif
