// SPDX-License-Identifier: Apache-2.0
/* The rows of a tool that has one operation. */
#ifndef AL_TOOLS_ONE_H
#define AL_TOOLS_ONE_H

#include "call/tool.h"

/** As AL_TOOL_ROWS(), with the members of the operation's row in place of a table. */
#define AL_TOOL_ONE(of_params, ...)                                                                \
    .params = (of_params), .nparams = AL_COUNT(of_params),                                         \
    .operations = &(const struct al_operation){ __VA_ARGS__ }, .noperations = 1

#endif
