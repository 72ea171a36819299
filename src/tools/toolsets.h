// SPDX-License-Identifier: Apache-2.0
/* All toolsets. */
#ifndef AL_TOOLS_TOOLSETS_H
#define AL_TOOLS_TOOLSETS_H

#include "call/registry.h"

/** Register every toolset, in the order in which they are listed.  The registry is empty before.
 * Aborts when two have the same name, which no input can cause. */
void al_toolsets_register(struct al_toolset_registry *registry);

#endif
