// SPDX-License-Identifier: Apache-2.0
/* Other spellings of names.  Toolsets spell their parameters differently, and an agent with two
 * toolsets in a session mixes the spellings. */
#ifndef AL_TOOL_SPELLING_H
#define AL_TOOL_SPELLING_H

#include <stdbool.h>

#include "guard/rules/grant.h"
#include "tool/registry.h"
#include "tool/tool.h"

/** Test whether a JSON member is this parameter: by its own name, by the same words in snake or
 * camel case (new_name, newName), or with `cwd` for `working_dir` and vice versa. */
bool al_param_is_called(const struct al_param *param, const char *name);

/**
 * The tool that `name` may have been meant for: the name in another case, with a client's prefix,
 * without "git_", or with a typing error.  Tools outside `grant` (NULL: everything is granted) do
 * not count.
 *
 * @return The name in the registry, or the names of the two tools that stand for a command of git:
 *         text for a message, borrowed.  NULL when none is near.
 */
const char *al_registry_nearest(const struct al_registry *registry, const struct al_grant *grant,
                                const char *name);

#endif
