// SPDX-License-Identifier: Apache-2.0
/* The errors of this toolset. */
#ifndef AL_TOOLSETS_WORKFLOW_FAILURE_H
#define AL_TOOLSETS_WORKFLOW_FAILURE_H

#include "util/error.h"

struct al_call;

/** Give an error its code, fold its message into one line and add a remedy.  For `complete_error`
 * of struct al_tool. */
void al_workflow_complete_error(struct al_call *call, struct al_error *err);

#endif
