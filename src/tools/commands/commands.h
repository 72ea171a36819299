// SPDX-License-Identifier: Apache-2.0
/* The toolset `commands`: what a shell runs through airlock.  Its calls are made by `airlock git`,
 * `run` and `snapshot` alone, with the streams of the shell (al_session.caller_shell). */
#ifndef AL_TOOLS_COMMANDS_COMMANDS_H
#define AL_TOOLS_COMMANDS_COMMANDS_H

#include "call/tool.h"

struct al_call;
struct al_repo;
struct al_session;
struct al_error;

/** `git`: the words of git's own command line. */
extern const struct al_tool al_tool_commands_git;

/** `run`: any command between two checkpoints, or a checkpoint alone. */
extern const struct al_tool al_tool_commands_run;

/** A tool of the client's own between two checkpoints, in a process that proc/hold.h began.  The
 * shell's output gets AL_HOOK_READY when the tool may begin.  It is called by the name of the
 * client's tool. */
extern const struct al_tool al_tool_commands_hook;
#define AL_HOOK_READY     "ready"
#define AL_HOOK_OPERATION "hook"

/** The file that a tool of the client is given; NULL: it may change any, as a shell may. */
const char *al_hook_file(const json_t *input);

/** Open the repository of a directory; *ret_repo stays NULL where there is none. */
int al_shell_open(struct al_call *call, const char *dir, struct al_repo **ret_repo,
                  struct al_error *err);

/** A shell's command may take a day. */
int64_t al_shell_timeout_ms(const struct al_session *session);

#endif
