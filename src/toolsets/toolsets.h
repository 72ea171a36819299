// SPDX-License-Identifier: Apache-2.0
/* The list of all toolsets. */
#ifndef AL_TOOLSETS_TOOLSETS_H
#define AL_TOOLSETS_TOOLSETS_H

#include "tool/tool.h"

/** All toolsets, NULL-terminated, in the order in which they are listed. */
extern const struct al_toolset *const al_toolsets[];

#endif
