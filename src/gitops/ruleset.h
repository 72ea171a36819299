// SPDX-License-Identifier: Apache-2.0
/* The Landlock rules of each class of git child. */
#ifndef AL_GITOPS_RULESET_H
#define AL_GITOPS_RULESET_H

#include "gitops/command.h"
#include "util/error.h"
#include <stdbool.h>

struct al_git;
struct al_held_ruleset;
struct al_ruleset;

/** The ruleset of a class, rebuilt when a path of it names another inode; given back
 * with al_git_ruleset_put().  *ret_held is NULL where the kernel has no Landlock.  Its paths are
 * looked at now and then; `now` when the caller cannot go on with a stale one. */
int al_git_ruleset(struct al_git *git, enum al_git_class class, bool now,
                   struct al_held_ruleset **ret_held, struct al_error *err);
void al_git_ruleset_put(struct al_git *git, struct al_held_ruleset *held);

/** A ruleset for one bare repository of our own, written below `dir_fd`.  The caller
 * frees it; NULL where the kernel has no Landlock. */
int al_git_bare_ruleset(struct al_git *git, int dir_fd, bool reads_roots,
                        struct al_ruleset **ret_ruleset, struct al_error *err);

#endif
