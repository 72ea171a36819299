// SPDX-License-Identifier: Apache-2.0
/*
 * Names as agents spell them.  Each toolset writes the names of its parameters in its own way, and
 * an agent that has two of them in a session mixes the ways up.
 */
#ifndef AL_TOOL_SPELLING_H
#define AL_TOOL_SPELLING_H

#include <stdbool.h>

#include "guard/grant.h"
#include "tool/tool.h"

/**
 * Whether a member of the arguments is this parameter: by its own name, by the same words in snake
 * or camel case (new_name, newName), and `cwd` and `working_dir` for each other.
 */
bool al_param_is_called(const struct al_param *param, const char *name);

/**
 * The tool that somebody who wrote `name` may have meant: the name in another case, with a client's
 * prefix, without "git_", or with a slip.  Tools that `grant` does not have (NULL: it has all) do
 * not count.
 *
 * @return a name of the registry, borrowed; NULL when none is near.
 */
const char *al_registry_nearest(const struct al_registry *registry, const struct al_grant *grant,
                                const char *name);

#endif
