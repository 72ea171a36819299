// SPDX-License-Identifier: Apache-2.0
/* The new files that a commit of every change leaves out. */
#ifndef AL_TOOLS_LEFT_OUT_H
#define AL_TOOLS_LEFT_OUT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct al_call;
struct al_repo;

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

/** Add the affected files that go through a filter, beside which git would stage no other, to those
 * that are left out already; NULL: none are named.  Where there are no others, that fails. */
int al_leave_filtered(struct al_call *call, struct al_strv *ret_names, struct al_error *err);

/** Whether the working tree is a sparse checkout (git-sparse-checkout(1)). */
bool al_is_sparse(const struct al_repo *repo);

/** If there are files that git has passed over, append "`what`, as a user can widen the sparse
 * checkout first: a, b", or the like for files with a mark in the index (git-update-index(1)). */
void al_left_out_add_passed_over(const struct al_call *call, const char *what,
                                 const struct al_strv *files, struct al_str *out);

#endif
