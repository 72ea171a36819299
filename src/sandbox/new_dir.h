// SPDX-License-Identifier: Apache-2.0
/*
 * For directory_import.c: a directory that gets its name when all of its files are complete.
 *
 * Until then it is `.airlock-dir-<pid>-<number>` beside its place, which is not shown.  So a file
 * in it can be written in place: nobody sees a part of it.  What a killed process leaves, a later
 * scan removes; a lock tells it that the directory is in use.
 */
#ifndef AL_SANDBOX_NEW_DIR_H
#define AL_SANDBOX_NEW_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "sandbox/sandbox.h"

/** A directory at the top of a sandbox that is being made. */
struct al_new_dir {
    int fd;             /**< open and locked; -1: there is none */
    char temp_name[48]; /**< its name so far */
    const char
        *path; /**< of the first file: up to its first '/' it is the name to come; borrowed */
};

#define AL_NEW_DIR_INIT ((struct al_new_dir){ .fd = -1 })

/**
 * Make a directory for a file, if its first component is not there yet.
 *
 * @param dir_fd  The directory of the sandbox.  O_PATH suffices.
 * @param path    Of the file; has to live as long as the directory is made.
 * @return false if it was not made, for whatever reason; then `dir` is AL_NEW_DIR_INIT.
 */
bool al_new_dir_make(struct al_new_dir *dir, int dir_fd, const char *path);

/** Test whether a file has its place in the directory.  False if there is none. */
bool al_new_dir_holds(const struct al_new_dir *dir, const char *path);

/** Where the file is below `dir->fd`.  Borrowed from `path`. */
const char *al_new_dir_below(const char *path);

/** Open the parent of a file that has its place in the directory, and create missing directories.
 * Refused is what al_directory_open_parent() refuses. */
int al_new_dir_open_parent(const struct al_new_dir *dir, const char *path, int *ret_fd,
                           struct al_error *err);

/**
 * Give the directory its name.  If something has that name by now, its files go there one by one.
 *
 * @param files  Those in the directory, `count` of them.
 * @return 0; AL_ERR_EXECUTION when there is something of the name of a file.  Then files that come
 *         before may have been moved, and the others are left to al_new_dir_remove().
 */
int al_new_dir_name(struct al_new_dir *dir, int dir_fd, const struct al_sandbox_file *files,
                    size_t count, struct al_error *err);

/** Remove the directory with all that is in it, if it has not got its name.  Safe on
 * AL_NEW_DIR_INIT. */
void al_new_dir_remove(struct al_new_dir *dir, int dir_fd);

/** Remove a directory that a killed process left, if this is the name of one; one in use stays. */
void al_new_dir_sweep(int dir_fd, const char *temp_name);

#endif
