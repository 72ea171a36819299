// SPDX-License-Identifier: Apache-2.0
/* The new files that a commit of every change leaves out. */
#ifndef AL_TOOLS_LEFT_OUT_H
#define AL_TOOLS_LEFT_OUT_H

#include "base/error.h"
#include "base/str.h"

struct al_call;

/**
 * Find the untracked files to leave out: files that look like secrets, core dumps and large files,
 * and repositories and worktrees inside of this one, of which git stages the commit alone.
 *
 * @param except     Absolute paths of files that are not left out; NULL: none.
 * @param ret_names  Their names, relative to the top of the working tree.
 * @param ret_line   One line that names them with the reasons; "" when there are none.
 */
int al_leave_out(struct al_call *call, const struct al_strv *except, struct al_strv *ret_names,
                 struct al_str *ret_line, struct al_error *err);

#endif
