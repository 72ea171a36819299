// SPDX-License-Identifier: Apache-2.0
/* Names in arguments as results show them: with ".." in front, <U+000A> for a newline, and <E9> for
 * a byte that is not UTF-8. */
#ifndef AL_TOOL_PARENT_PATHS_H
#define AL_TOOL_PARENT_PATHS_H

#include "util/error.h"

struct al_call;

/**
 * Make each path of the arguments that begins with ".." absolute: the working directory without as
 * many components, then the rest.  The working directory is canonical, so no link is involved.  Any
 * later ".." is refused where the path is resolved.
 *
 * A control or invisible character that is written as <U+000A> is read as that character, unless a
 * file has the very name that was given.
 *
 * @return 0; AL_ERR_SANDBOX for a path that leaves the working tree or goes into .git.
 */
int al_call_take_parent_paths(struct al_call *call, struct al_error *err);

/** Read the bytes that are written as <E9> in arguments that name a file, a directory, a branch or
 * a revision, see al_utf8_unescape(). */
void al_call_take_bytes(struct al_call *call);

#endif
