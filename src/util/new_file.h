// SPDX-License-Identifier: Apache-2.0
/*
 * A file that gets its name when it is complete.
 *
 * Nobody sees a part of it, an existing name is not replaced unless that is asked for, and a
 * process that is killed leaves nothing behind.  File systems without O_TMPFILE give it a temporary
 * name
 * ".airlock-…" meanwhile, which a killed process leaves.
 *
 * Source: open(2) O_TMPFILE.
 */
#ifndef AL_UTIL_NEW_FILE_H
#define AL_UTIL_NEW_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/** A file that is being written.  Owned by one thread. */
struct al_new_file {
    int fd;             /**< open for writing; -1: there is no file */
    int dir_fd;         /**< where temp_name is; -1: it has none */
    char temp_name[40]; /**< "": it has no name */
};

#define AL_NEW_FILE_INIT ((struct al_new_file){ .fd = -1, .dir_fd = -1 })

/**
 * Open a new file in the file system of a directory, with these permissions as far as the umask
 * leaves them.
 *
 * @param dir_fd  O_PATH suffices.
 * @return 0 or -errno.
 */
int al_new_file_open(struct al_new_file *file, int dir_fd, mode_t mode);

/**
 * Give the file its name, and close it.  If that fails, the file is as it was.
 *
 * @param dir_fd   The same directory, or another one of the same file system.
 * @param replace  Replace a file or link of this name; a directory is not replaced.
 * @return 0 or -errno: -EEXIST for an existing name without `replace`.
 */
int al_new_file_name(struct al_new_file *file, int dir_fd, const char *name, bool replace);

/** Drop the file if it has no name yet.  Safe on AL_NEW_FILE_INIT. */
void al_new_file_clear(struct al_new_file *file);

#endif
