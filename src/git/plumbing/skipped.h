// SPDX-License-Identifier: Apache-2.0
/* Notes about hooks and filters that airlock did not run, so that a result never differs silently
 * from git's own. */
#ifndef AL_GIT_PLUMBING_SKIPPED_H
#define AL_GIT_PLUMBING_SKIPPED_H

#include "git/command.h"
#include "git/repo/repo.h"

/** Append the hooks of this list, between spaces, that git itself would have run: files, and from
 * git 2.54 on what hook.<name>.event names. */
void al_git_skipped_hooks(const struct al_repo *repo, const char *hooks, struct al_str *out);

/** For an approval: append a line each that names the hooks of this list that do not run, and that
 * the commit is not signed although the configuration asks for it. */
void al_git_show_skipped(const struct al_repo *repo, const char *hooks, struct al_str *out);

/** Append the filter drivers that a command on the working tree would have run. */
void al_git_skipped_filters(const struct al_repo *repo, struct al_str *out);

#endif
