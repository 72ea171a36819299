// SPDX-License-Identifier: Apache-2.0
/* Which file a program's name stands for, and what the kernel needs to start it. */
#ifndef AL_GUARD_PROGRAM_H
#define AL_GUARD_PROGRAM_H

#include "guard/root.h"

/**
 * The first directory of `path_list` (colon-separated, as $PATH) that holds an executable of this
 * name, with links resolved; NULL when none does.  One that lies in a root is passed over: whoever
 * can write there would decide what runs.  `roots` may be NULL.  Caller frees.
 */
char *al_program_find(const char *name, const char *path_list, const struct al_roots *roots);

/** The dynamic loader an ELF file names, NULL for anything else.  Caller frees. */
char *al_program_interpreter(const char *program);

#endif
