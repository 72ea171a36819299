// SPDX-License-Identifier: Apache-2.0
/* What git_status says beside the files: remotes, default branch, stashes, other working trees. */
#ifndef AL_TOOLSETS_EVERYDAY_STATUS_FACTS_H
#define AL_TOOLSETS_EVERYDAY_STATUS_FACTS_H

#include "gitops/reading/worktree_state.h"
#include "gitops/repo/repo.h"
#include "util/str.h"

/** Append a line for each of them that there is.  No git child. */
void al_status_add_facts(const struct al_repo *repo, const struct al_worktree_state *state,
                         struct al_str *out);

/** The default branch: that of origin, or of the only remote, else main or master if it exists;
 * NULL.  Caller frees. */
char *al_default_branch(const struct al_repo *repo);

#endif
