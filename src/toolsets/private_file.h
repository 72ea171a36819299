// SPDX-License-Identifier: Apache-2.0
/* Files that should not be part of "every file": secrets and core dumps, recognised by name. */
#ifndef AL_TOOLSETS_PRIVATE_FILE_H
#define AL_TOOLSETS_PRIVATE_FILE_H

/** The warning that a file's name deserves ("looks like a secret"), a constant; NULL: none. */
const char *al_private_file(const char *path);

#endif
