// SPDX-License-Identifier: Apache-2.0
/* Commands that a person may let an agent run, and what is to hold them. */
#ifndef AL_GUARD_WHITELIST_H
#define AL_GUARD_WHITELIST_H

#include "util/error.h"

/** What holds the programs of the shell toolset. */
enum al_isolation {
    AL_ISOLATION_AUTO, /**< Landlock, else firejail, else nothing */
    AL_ISOLATION_LANDLOCK,
    AL_ISOLATION_FIREJAIL,
    AL_ISOLATION_NONE,
};

/** The standard whitelist; NULL ends it. */
extern const char *const al_whitelist_standard[];

/** Whether a name may stand on a whitelist: a plain word, and none that is always refused.
 * @return 0 or AL_ERR_BAD_ARGS saying why not. */
int al_whitelist_check(const char *name, struct al_error *err);

#endif
