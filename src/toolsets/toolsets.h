// SPDX-License-Identifier: Apache-2.0
/* Every toolset there is. */
#ifndef AL_TOOLSETS_TOOLSETS_H
#define AL_TOOLSETS_TOOLSETS_H

#include "tool/tool.h"

/** NULL-terminated, in the order they are listed to people. */
extern const struct al_toolset *const al_toolsets[];

#endif
