// SPDX-License-Identifier: Apache-2.0
/* Small files and directories.  Functions that take a directory descriptor are safe where an agent
 * can write; the others are for airlock's own directories. */
#ifndef AL_BASE_FS_H
#define AL_BASE_FS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

/** A file that is being written.  Owned by one thread. */
struct al_new_file {
    int fd;          /**< open for reading and writing; -1: there is no file */
    int dir_fd;      /**< where temp_name is; -1: it has none */
    char *temp_name; /**< NULL: it has no name */
};

#define AL_NEW_FILE_INIT ((struct al_new_file){ .fd = -1, .dir_fd = -1 })

/** Write everything, through EINTR and short writes.  Returns 0 or -errno. */
int al_write_all(int fd, const void *data, size_t len);

/**
 * Read a regular file of at most `max_bytes` beneath `dir_fd` (AT_FDCWD allowed).  A symbolic link
 * in the last component is not followed, and a fifo does not block.
 *
 * @return 0, or -errno: -ENOENT, -ELOOP (a link), -EFBIG (larger), -EINVAL (not a regular file).
 */
int al_fs_read(int dir_fd, const char *path, size_t max_bytes, struct al_str *ret_text);

/** The same for an open descriptor, from the beginning of the file. */
int al_fs_read_fd(int fd, size_t max_bytes, struct al_str *ret_text);

/** Copy an open file, from its beginning, to where another one is open for writing.  0 or -errno:
 * -EFBIG when it has more than `max_bytes`, or grows to that meanwhile. */
int al_fs_copy(int from, int to, uint64_t max_bytes);

/**
 * Write a temporary file in the same directory and rename it, so that a reader sees either the old
 * bytes or the new ones.  An existing name is refused without `replace` (-EEXIST).  Returns 0 or
 * -errno; on failure nothing is left behind.
 */
int al_fs_write_atomic(int dir_fd, const char *name, const void *data, size_t len, mode_t mode,
                       bool replace);

/** The same with `replace`, durable: the bytes are on the disk before the name is, and both are
 * when this returns.  `dir_fd` is open for reading. */
int al_fs_write_durable(int dir_fd, const char *name, const void *data, size_t len, mode_t mode);

/** A name for a temporary file or link, beside the one that is written: ".airlock-<pid>-<number>".
 * Caller frees. */
char *al_fs_temp_name(void);

/** The process that made a temporary file of this name.  0: no such name. */
pid_t al_fs_temp_owner(const char *name);

/** fsync(2) a file or a directory.  0 or -errno; a file system without fsync is not an error. */
int al_fs_sync(int fd);

/** List an open directory, as fdopendir(3).  Takes the descriptor over, and closes it on failure.
 * NULL with errno on failure, also for a negative descriptor. */
DIR *al_fs_list(int fd);

/** The same for a descriptor that the caller keeps, from the first entry. */
DIR *al_fs_list_at(int dir_fd);

/** Test whether a directory has no entry but "." and "..".  False when it cannot be read. */
bool al_fs_is_empty_dir(int dir_fd);

/** Cleanup for `al_auto(al_closedirp) DIR *dir`: closes it unless it is NULL. */
void al_closedirp(DIR **dir);

/** mkdir -p, for a path that no agent can write.  Returns 0 or -errno. */
int al_fs_mkdirs(const char *path, mode_t mode);

/** Remove a tree, without following links below `path`, whose own parent no agent can write.  A
 * program that still changes the tree cannot lead the removal out of it; what the program adds may
 * stay.  Errors are ignored.  (remove_tree.c) */
void al_fs_remove_tree(const char *path);

/** The same for an entry of a directory, which an agent may be able to write. */
void al_fs_remove_tree_at(int dir_fd, const char *name);

/** Remove a directory that has nothing but directories, with them. */
void al_fs_remove_empty(int dir_fd, const char *name);

/** rename(2) that replaces nothing.  0 or -errno: -EEXIST. */
int al_fs_rename_new(int from_fd, const char *from, int to_fd, const char *to);

/** The birth of an open file, in nanoseconds since 1970; 0: the file system does not know.  A new
 * file may get the inode of one that is gone, but not its birth. */
int64_t al_fs_birth_ns(int fd);

/** The identity of an open directory, which a later one of its name does not have:
 * "<inode>.<birth>".  NULL: it cannot be told.  Caller frees. */
char *al_fs_dir_id(int fd);

/** The path of an open descriptor from /proc/self/fd; NULL: it has none.  Caller frees. */
char *al_fs_fd_path(int fd);

/** The part of `path` relative to `dir`: "" for `dir` itself, NULL for a path outside.  Both are
 * canonical.  Borrowed from `path`. */
const char *al_fs_beneath(const char *dir, const char *path);

/** Join two paths with one '/'.  An absolute `tail` replaces `head`.  Caller frees. */
char *al_fs_join(const char *head, const char *tail);

/** The members of a stat that change when a file is replaced or its content changes. */
struct al_file_id {
    uint64_t dev, ino, size;
    int64_t mtime_ns, ctime_ns;
    bool exists;
};

/** The id of the file that `path` names beneath `dir_fd` (AT_FDCWD allowed; links are followed).  A
 * missing file has an id too. */
struct al_file_id al_file_id_at(int dir_fd, const char *path);
struct al_file_id al_file_id_from(const struct stat *st);
bool al_file_id_equal(const struct al_file_id *a, const struct al_file_id *b);

/**
 * Open a new file in the file system of a directory, with these permissions as far as the umask
 * leaves them.
 *
 * @param dir_fd  O_PATH suffices.
 * @return 0 or -errno.
 */
int al_new_file_open(struct al_new_file *file, int dir_fd, mode_t mode);

/**
 * Give the file its name, and close it.  A failure leaves the file as it was.
 *
 * @param dir_fd   The same directory, or another one of the same file system.
 * @param replace  Replace a file or link of this name; a directory is not replaced.
 * @return 0 or -errno: -EEXIST for an existing name without `replace`.
 */
int al_new_file_name(struct al_new_file *file, int dir_fd, const char *name, bool replace);

/** Drop the file if it has no name yet.  Safe on AL_NEW_FILE_INIT. */
void al_new_file_clear(struct al_new_file *file);

#endif
