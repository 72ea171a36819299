// SPDX-License-Identifier: Apache-2.0
/*
 * Files put in place below a directory, which somebody else may change meanwhile.
 *
 * A file is written beside its place and renamed; directories are made as needed, and removed only
 * when empty.  No link is followed anywhere, so nothing outside the directory is touched whatever
 * is in it.
 *
 * Source: openat2(2) RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, rename(2).
 */
#ifndef AL_ROLLBACK_ATOMIC_FILE_H
#define AL_ROLLBACK_ATOMIC_FILE_H

#include "util/error.h"
#include "util/str.h"

/** Where files go.  Borrowed. */
struct al_atomic_dir {
    int fd;                /**< the directory */
    const char *path;      /**< the same, for messages */
    const char *temp_name; /**< the name a file has until it is in place; nobody else's */
};

/** A file on its way.  Set up with AL_ATOMIC_FILE_INIT. */
struct al_atomic_file {
    const struct al_atomic_dir *dir;
    const char *path, *name; /* borrowed; the name is its last component */
    unsigned mode;
    int parent_fd, fd;
    struct al_str target; /* of a link */
};

#define AL_ATOMIC_FILE_INIT                                                                        \
    ((struct al_atomic_file){ .parent_fd = -1, .fd = -1, .target = AL_STR_INIT })

/**
 * Begin a file at `path`, in place of what is there when it ends; a directory there is an error.
 *
 * @param mode  st_mode: S_IFREG or S_IFLNK, and the permission bits.
 */
int al_atomic_file_begin(struct al_atomic_file *file, const struct al_atomic_dir *dir,
                         const char *path, unsigned mode, struct al_error *err);

/** More of its bytes, or of a link's target. */
int al_atomic_file_add(struct al_atomic_file *file, const void *data, size_t len,
                       struct al_error *err);

/** It is complete: put it in place. */
int al_atomic_file_commit(struct al_atomic_file *file, struct al_error *err);

/** Give up what was begun and did not end. */
void al_atomic_file_clear(struct al_atomic_file *file);

/** A whole file at once. */
int al_atomic_file_write(const struct al_atomic_dir *dir, const char *path, unsigned mode,
                         const void *data, size_t len, struct al_error *err);

/** Remove a file, and the directories that are empty without it.  One that is gone is fine. */
int al_atomic_file_remove(const struct al_atomic_dir *dir, const char *path, struct al_error *err);

/** Open the directory a path is in: a descriptor and the path's last component, borrowed; or -errno
 * (-ENOENT: there is none). */
int al_atomic_file_open_parent(const struct al_atomic_dir *dir, const char *path,
                               const char **ret_name);

/** Remove a leftover with the temporary name from the directory `path` is in. */
void al_atomic_file_clean(const struct al_atomic_dir *dir, const char *path, const char *temp);

/** Whether a path is one of plain names: no empty one, no `.` and no `..`. */
bool al_atomic_file_is_plain(const char *path);

#endif
