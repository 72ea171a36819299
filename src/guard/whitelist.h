// SPDX-License-Identifier: Apache-2.0
/* Commands that a user may allow an agent to run, and the confinement of these commands. */
#ifndef AL_GUARD_WHITELIST_H
#define AL_GUARD_WHITELIST_H

#include "util/error.h"

/** The confinement of the shell toolset's programs. */
enum al_isolation {
    AL_ISOLATION_AUTO, /**< Landlock, else firejail, else none */
    AL_ISOLATION_LANDLOCK,
    AL_ISOLATION_FIREJAIL,
    AL_ISOLATION_NONE,
};

/** The default whitelist; NULL ends it. */
extern const char *const al_whitelist_standard[];

/**
 * Check a name for a whitelist: a plain word, and not one of the commands that are always refused.
 * @return 0, or AL_ERR_BAD_ARGS saying why not.
 */
int al_whitelist_check(const char *name, struct al_error *err);

#endif
