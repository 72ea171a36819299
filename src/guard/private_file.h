// SPDX-License-Identifier: Apache-2.0
/* Files that nobody means when they say "every file": by their names. */
#ifndef AL_GUARD_PRIVATE_FILE_H
#define AL_GUARD_PRIVATE_FILE_H

/** What a path looks like ("looks like a secret"), a constant; NULL: like any file. */
const char *al_private_file(const char *path);

#endif
