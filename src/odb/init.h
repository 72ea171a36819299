// SPDX-License-Identifier: Apache-2.0
/* Creating a bare repository of airlock's own, without starting git. */
#ifndef AL_ODB_INIT_H
#define AL_ODB_INIT_H

#include <stdbool.h>

/**
 * Create a bare repository in an empty directory.  Does nothing if there is one.  Processes that
 * create the same one at the same time do not disturb each other.
 *
 * The repository has no branch, never collects garbage by itself, and splits packs so that each
 * offset fits into 31 bits.  Its files are synchronised.
 *
 * @param dir_fd  Borrowed.
 * @param dirs    Directories to create below refs/, as full names ("refs/before"), ended by NULL.
 * @return 0 or a negative errno.
 */
int al_odb_init(int dir_fd, bool sha256, const char *const *dirs);

#endif
