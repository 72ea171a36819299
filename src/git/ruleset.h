// SPDX-License-Identifier: Apache-2.0
/* The Landlock ruleset of each class of git child; docs/SECURITY-MODEL.md says why each rule is
 * there. */
#ifndef AL_GIT_RULESET_H
#define AL_GIT_RULESET_H

#include "base/error.h"
#include "git/command.h"
#include <stdbool.h>

struct al_git;
struct al_held_ruleset;
struct al_ruleset;

/**
 * The ruleset of a class, rebuilt when one of its paths names another inode.  Release it with
 * al_git_ruleset_put().  *ret_held is NULL when the kernel has no Landlock.
 *
 * @param now  Check the paths even if they were checked within the last 200 ms.
 */
int al_git_ruleset(struct al_git *git, enum al_git_class class, bool now,
                   struct al_held_ruleset **ret_held, struct al_error *err);

/** Forget the rulesets of the classes: the roots have changed.  A git that runs keeps its own. */
void al_git_forget_rulesets(struct al_git *git);

/** Release a ruleset. */
void al_git_ruleset_put(struct al_git *git, struct al_held_ruleset *held);

/** A ruleset for one bare repository of airlock's own, which may be written below `dir_fd`, and
 * which borrows objects from `lender` (NULL: from none).  The caller frees it; NULL when the kernel
 * has no Landlock. */
int al_git_bare_ruleset(struct al_git *git, int dir_fd, const struct al_location *lender,
                        struct al_ruleset **ret_ruleset, struct al_error *err);

/** A ruleset for a location that is_own: as al_git_ruleset(), but of files and folders of the user
 * nothing may be read or written, only the repository itself.  The caller frees it; NULL when the
 * kernel has no Landlock. */
int al_git_own_ruleset(const struct al_location *at, enum al_git_class class,
                       struct al_ruleset **ret_ruleset, struct al_error *err);

#endif
