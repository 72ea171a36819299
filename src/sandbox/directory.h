// SPDX-License-Identifier: Apache-2.0
/* For the directory backend only.  Every file is reached from the descriptor of the directory
 * without following a link. */
#ifndef AL_SANDBOX_DIRECTORY_H
#define AL_SANDBOX_DIRECTORY_H

#include <sys/stat.h>

#include "sandbox/backend.h"
#include "util/fs.h"

/** A file as the last scan or snapshot saw it. */
struct al_scanned_file {
    char *path;
    struct al_file_id id;
    uint32_t mode; /* st_mode */
    bool racy;     /* it was read so soon after its last change that it must be read again */
    struct al_oid oid;
};

/** Files, sorted by path. */
struct al_scan {
    struct al_scanned_file *items;
    size_t count, capacity;
};

void al_scan_clear(struct al_scan *scan);

/** The state of the backend. */
struct al_directory {
    int fd; /* O_PATH | O_DIRECTORY */
    /* Protected by the sandbox's lock: */
    struct al_scan seen; /* by the last snapshot */
    int64_t grown;       /* bytes that writes added, less those of removed files */
};

/**
 * Open the directory of a sandbox, and create it if it is missing.
 *
 * @param      path    Absolute.  Links are followed, but not inside a root.
 * @param      roots   NULL: there is none.
 * @param[out] ret_dir Its canonical path.  Caller frees.
 */
int al_directory_open(const char *path, const struct al_roots *roots, int *ret_fd, char **ret_dir,
                      struct al_error *err);

/**
 * Find the regular files and the symbolic links below `dir`.  Other types of files are left out,
 * and so is what has a name that a file system takes for `.git`, or one of airlock's temporary
 * files; those that a killed process left are removed.  A directory that is removed or replaced
 * meanwhile is left out too.
 *
 * @param[out] ret_scan  Without object ids.  Paths are relative to `fd`.
 */
int al_directory_scan(int fd, const char *dir, struct al_scan *ret_scan, struct al_error *err);

/**
 * Test whether a file is in this version.  It is read unless the last snapshot saw it as it is.
 * With the sandbox's lock held.
 *
 * @param st  Of the file, as it is now.
 */
bool al_directory_is_version(const struct al_sandbox *sandbox, const char *path,
                             const struct stat *st, const struct al_sandbox_version *version);

/** `snapshot` and `import` of struct al_sandbox_backend. */
int al_directory_snapshot(struct al_sandbox *sandbox, struct al_sandbox_files *ret,
                          struct al_error *err);
int al_directory_import(struct al_sandbox *sandbox, const struct al_sandbox_file *files,
                        size_t count, const struct al_blob_source *source, struct al_error *err);

/**
 * Open the parent of a file that is to be created or replaced, and create missing directories.
 * Refused: a place inside a git directory of any name, and one where a part of a git directory
 * would be created.
 *
 * @param[out] ret_name  The last component, borrowed from `path`.
 * @param[out] ret_st    The file of this name; st_mode is 0 when there is none.
 */
int al_directory_open_parent(int fd, const char *path, int *ret_fd, const char **ret_name,
                             struct stat *ret_st, struct al_error *err);

/** The failure to open or use `path`, for an errno. */
int al_directory_fail(int errno_value, const char *path, struct al_error *err);

/** The same for a file that was to be created, with its directories: ENOENT means that the whole
 * directory of the sandbox is gone. */
int al_directory_write_fail(int errno_value, const char *path, struct al_error *err);

/** The failure to create `path`, which somebody else did meanwhile. */
int al_directory_is_made(const char *path, struct al_error *err);

/** The failure to use `path`, which is neither a file nor a directory nor a link. */
int al_directory_is_special(const char *path, struct al_error *err);

#endif
