// SPDX-License-Identifier: Apache-2.0
/* The paths in an agent's arguments. */
#ifndef AL_TOOLSETS_WORKFLOW_PATHS_H
#define AL_TOOLSETS_WORKFLOW_PATHS_H

#include "util/error.h"
#include "util/str.h"

struct al_call;

/**
 * Check a path before approval: inside the repository, and not in a `.git` directory.  The file
 * need not exist.
 *
 * @param param  Name of the parameter, for the message.
 * @return 0; AL_ERR_SANDBOX, with AL_CODE_PROTECTED_PATH for `.git`; AL_ERR_BAD_ARGS.
 */
int al_workflow_check_path(struct al_call *call, const char *param, const char *given,
                           struct al_error *err);

/** Check each path of a list. */
int al_workflow_check_paths(struct al_call *call, const char *param, const struct al_strv *given,
                            struct al_error *err);

#endif
