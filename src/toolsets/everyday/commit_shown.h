// SPDX-License-Identifier: Apache-2.0
/* What a commit of a part of the changes will have, for the question about it, and whether it has
 * that when it is made. */
#ifndef AL_TOOLSETS_EVERYDAY_COMMIT_SHOWN_H
#define AL_TOOLSETS_EVERYDAY_COMMIT_SHOWN_H

#include "gitops/porcelain/commit_part.h"
#include "tool/call.h"

/**
 * For a preview: append the change that the commit of this part makes to HEAD's commit, and note it
 * for al_commit_check_shown().  The commit is prepared as it is made, beside the repository, which
 * gets no object.
 *
 * @return 0; otherwise as al_git_choose_commit().
 */
int al_commit_show_part(struct al_call *call, const struct al_commit_part *part, struct al_str *out,
                        struct al_error *err);

/** The same for a commit of what is staged. */
int al_commit_show_staged(struct al_call *call, struct al_str *out, struct al_error *err);

/**
 * Compare what an index would commit with what was shown.
 *
 * @param index  A scratch index.
 * @return 0, also when nothing was shown; AL_ERR_EXECUTION when they differ.
 */
int al_commit_check_shown(struct al_call *call, const char *index, struct al_error *err);

#endif
