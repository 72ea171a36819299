// SPDX-License-Identifier: Apache-2.0
/*
 * Files that are written below a directory while other programs may change it.
 *
 * A file is written under a temporary name and then renamed.  Directories are created as needed,
 * and removed only when empty.  No symbolic link is followed, so nothing outside the directory is
 * touched, whatever is in it.
 *
 * Source: openat2(2) RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, rename(2).
 */
#ifndef AL_HISTORY_ROLLBACK_ATOMIC_FILE_H
#define AL_HISTORY_ROLLBACK_ATOMIC_FILE_H

#include "util/error.h"
#include "util/str.h"

/** The directory below which files are written.  Borrowed. */
struct al_atomic_dir {
    int fd;           /**< the directory */
    const char *path; /**< its path, for messages */
    /** The name of a file until it is complete.  No other program may use it. */
    const char *temp_name;
};

/** A file that is being written.  Set up with AL_ATOMIC_FILE_INIT. */
struct al_atomic_file {
    const struct al_atomic_dir *dir;
    const char *path, *name; /* borrowed; `name` is the last component of `path` */
    unsigned mode;
    int parent_fd, fd;
    struct al_str target; /* of a link */
};

#define AL_ATOMIC_FILE_INIT                                                                        \
    ((struct al_atomic_file){ .parent_fd = -1, .fd = -1, .target = AL_STR_INIT })

/**
 * Begin a file that replaces the one at `path` when it is committed.  It is an error if a directory
 * with files is there.
 *
 * @param mode  st_mode: S_IFREG or S_IFLNK, and the permission bits.
 */
int al_atomic_file_begin(struct al_atomic_file *file, const struct al_atomic_dir *dir,
                         const char *path, unsigned mode, struct al_error *err);

/** Add bytes to the file, or to a link's target. */
int al_atomic_file_add(struct al_atomic_file *file, const void *data, size_t len,
                       struct al_error *err);

/** Put the complete file in place. */
int al_atomic_file_commit(struct al_atomic_file *file, struct al_error *err);

/** Drop a file that was begun and not committed. */
void al_atomic_file_clear(struct al_atomic_file *file);

/** Write a whole file at once. */
int al_atomic_file_write(const struct al_atomic_dir *dir, const char *path, unsigned mode,
                         const void *data, size_t len, struct al_error *err);

/** Remove a file and the directories that become empty.  It is no error if the file is gone. */
int al_atomic_file_remove(const struct al_atomic_dir *dir, const char *path, struct al_error *err);

/**
 * Open the parent directory of a path.
 * @param[out] ret_name  The last component of the path, borrowed.
 * @return A descriptor, or -errno; -ENOENT when there is no such directory.
 */
int al_atomic_file_open_parent(const struct al_atomic_dir *dir, const char *path,
                               const char **ret_name);

/** Remove a leftover file with the temporary name from the parent directory of `path`. */
void al_atomic_file_clean(const struct al_atomic_dir *dir, const char *path, const char *temp);

/** Test whether no component of a path is empty, `.` or `..`. */
bool al_atomic_file_is_plain(const char *path);

#endif
