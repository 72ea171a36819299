// SPDX-License-Identifier: Apache-2.0
/*
 * git_branch with action delete: why a branch stays.
 */
#ifndef AL_TOOLSETS_EVERYDAY_BRANCH_DELETE_H
#define AL_TOOLSETS_EVERYDAY_BRANCH_DELETE_H

#include <stdbool.h>

#include "tool/call.h"
#include "util/error.h"
#include "util/str.h"

/**
 * Check that git would delete these branches, before the first one goes.
 *
 * @return 0; AL_ERR_EXECUTION with one line that names each branch that cannot go and why, the
 *         first few of many, and a remedy.
 */
int al_branch_delete_check(struct al_call *call, const struct al_strv *names, bool force,
                           struct al_error *err);

#endif
