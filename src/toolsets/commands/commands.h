// SPDX-License-Identifier: Apache-2.0
/* The toolset `commands`: what a shell runs through airlock.  Its calls are made by `airlock git`,
 * `run` and `snapshot` alone, with the streams of the shell (al_session.caller_shell). */
#ifndef AL_TOOLSETS_COMMANDS_COMMANDS_H
#define AL_TOOLSETS_COMMANDS_COMMANDS_H

#include "tool/tool.h"

/** `git`: the words of git's own command line. */
extern const struct al_tool al_tool_commands_git;

/** `run`: any command between two checkpoints, or a checkpoint alone. */
extern const struct al_tool al_tool_commands_run;

#endif
