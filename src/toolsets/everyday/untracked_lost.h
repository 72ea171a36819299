// SPDX-License-Identifier: Apache-2.0
/* Files that no commit and no index has, and that a call writes over: what a question says. */
#ifndef AL_TOOLSETS_EVERYDAY_UNTRACKED_LOST_H
#define AL_TOOLSETS_EVERYDAY_UNTRACKED_LOST_H

#include "tool/call.h"
#include "util/str.h"

/** Append the names and sizes of the untracked files, ignored or not, in the places of files that a
 * commit has.
 *
 * @param paths  As of al_git_untracked_overwritten(). */
int al_show_untracked_lost(struct al_call *call, const char *commit, const struct al_strv *paths,
                           struct al_str *out, struct al_error *err);

#endif
