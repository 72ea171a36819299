// SPDX-License-Identifier: Apache-2.0
/* Paths of arguments that begin with "..". */
#ifndef AL_TOOL_PARENT_PATHS_H
#define AL_TOOL_PARENT_PATHS_H

#include "util/error.h"

struct al_call;

/**
 * Make each path of the arguments that begins with ".." absolute: the working directory without as
 * many components, then the rest.  The working directory is canonical, so no link is involved.  Any
 * later ".." is refused where the path is resolved.
 *
 * @return 0; AL_ERR_SANDBOX for a path that leaves the working tree.
 */
int al_call_take_parent_paths(struct al_call *call, struct al_error *err);

#endif
