// SPDX-License-Identifier: Apache-2.0
/* Small files and directories, by descriptor where the caller is an agent's neighbour. */
#ifndef AL_UTIL_FS_H
#define AL_UTIL_FS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "util/error.h"
#include "util/str.h"

/** Write everything, through EINTR and short writes.  Returns 0 or -errno. */
int al_write_all(int fd, const void *data, size_t len);

/**
 * Read a regular file of at most `max_bytes`, below `dir_fd` (AT_FDCWD allowed), never following a
 * symbolic link in the last component and never blocking on a fifo.
 *
 * @return 0, or -errno: -ENOENT, -ELOOP (a link), -EFBIG (larger), -EINVAL (not a regular file).
 */
int al_fs_read(int dir_fd, const char *path, size_t max_bytes, struct al_str *ret_text);

/** The same for a descriptor that is open already; the offset does not matter. */
int al_fs_read_fd(int fd, size_t max_bytes, struct al_str *ret_text);

/**
 * Write a file beside its final place and rename it there, so that a reader sees the old bytes or
 * the new ones.  `replace` false refuses an existing name (-EEXIST).  Returns 0 or -errno; on
 * failure nothing is left behind.
 */
int al_fs_write_atomic(int dir_fd, const char *name, const void *data, size_t len, mode_t mode,
                       bool replace);

/** The same, replacing, for what somebody will count on after a power failure: the bytes are on the
 * disk before the name is, and both are when this returns.  `dir_fd` is open for reading. */
int al_fs_write_durable(int dir_fd, const char *name, const void *data, size_t len, mode_t mode);

/** Bring a file's bytes, or the names of a directory, to the disk.  0 or -errno. */
int al_fs_sync(int fd);

/**
 * The entries of an open directory.  The descriptor is the listing's from here on, and closed when
 * there is none: NULL with errno.  A negative one has none.
 */
DIR *al_fs_list(int fd);

/** The same for a directory that stays the caller's, from its first entry. */
DIR *al_fs_list_at(int dir_fd);

/** Cleanup for `al_auto(al_closedirp) DIR *dir`: closes it unless it is NULL. */
void al_closedirp(DIR **dir);

/** mkdir -p for a path of ours (not an agent's).  Returns 0 or -errno. */
int al_fs_mkdirs(const char *path, mode_t mode);

/** Remove a tree of ours, following no link.  Errors are ignored: it is cleaning up. */
void al_fs_remove_tree(const char *path);

/** The path of an open descriptor as the kernel names it; NULL when it has none.  Caller frees. */
char *al_fs_fd_path(int fd);

/** What is left of `path` below `dir`: "" for `dir` itself, NULL for what lies elsewhere.  Both are
 * canonical; borrowed from `path`. */
const char *al_fs_below(const char *dir, const char *path);

/** Join two path pieces with one '/'; an absolute `tail` replaces `head`.  Caller frees. */
char *al_fs_join(const char *head, const char *tail);

/** The bytes of a stat that tell whether a file is still the same one with the same content. */
struct al_file_id {
    uint64_t dev, ino, size;
    int64_t mtime_ns, ctime_ns;
    bool exists;
};

/** Identify what `path` names below `dir_fd` (AT_FDCWD allowed; links followed); a missing file is
 * an id too. */
struct al_file_id al_file_id_at(int dir_fd, const char *path);
struct al_file_id al_file_id_from(const struct stat *st);
bool al_file_id_equal(const struct al_file_id *a, const struct al_file_id *b);

#endif
