// SPDX-License-Identifier: Apache-2.0
/* Finding a program in $PATH, and the dynamic loader that it needs. */
#ifndef AL_GUARD_PROGRAM_H
#define AL_GUARD_PROGRAM_H

#include "guard/root.h"

/**
 * Find an executable in a list of directories.  A program inside a root is skipped: an agent can
 * write there, and would decide what runs.
 *
 * @param path_list  Colon-separated, as $PATH.
 * @param roots      May be NULL.
 * @return the program's path with links resolved, NULL when there is none.  Caller frees.
 */
char *al_program_find(const char *name, const char *path_list, const struct al_roots *roots);

/** The dynamic loader that an ELF program names; NULL for anything else.  Caller frees. */
char *al_program_interpreter(const char *program);

#endif
