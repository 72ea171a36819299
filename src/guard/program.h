// SPDX-License-Identifier: Apache-2.0
/* Finding a program in $PATH, and the dynamic loader that it needs. */
#ifndef AL_GUARD_PROGRAM_H
#define AL_GUARD_PROGRAM_H

#include "base/error.h"
#include "guard/root.h"

/** The confinement of the shell toolset's programs. */
enum al_isolation {
    AL_ISOLATION_AUTO, /**< Landlock, else firejail, else none */
    AL_ISOLATION_LANDLOCK,
    AL_ISOLATION_FIREJAIL,
    AL_ISOLATION_NONE,
};

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

/** The default whitelist; NULL ends it. */
extern const char *const al_whitelist_standard[];

/**
 * Check a name for a whitelist: a plain word, and not one of the commands that are always refused.
 * @return 0, or AL_ERR_BAD_ARGS saying why not.
 */
int al_whitelist_check(const char *name, struct al_error *err);

#endif
