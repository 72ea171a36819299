// SPDX-License-Identifier: Apache-2.0
/* Open a path below a descriptor without following a symbolic link in any component.  The paths
 * come from a repository, where git itself would not have followed a link. */
#ifndef AL_GUARD_NOFOLLOW_H
#define AL_GUARD_NOFOLLOW_H

#include "base/error.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

/**
 * Open `path` below the directory `dir_fd`; "" is the directory itself.
 *
 * @param flags  As for open(2), without O_CREAT.  O_CLOEXEC, O_NOCTTY and O_NONBLOCK are added.
 * @return a descriptor, or -errno: -ELOOP where a component is a link; -EXDEV for an absolute path
 *         and for `..` that leads above `dir_fd`.
 */
int al_nofollow_open(int dir_fd, const char *path, int flags);

/**
 * Open the parent directory of `path` below `dir_fd`.
 *
 * @param      make      Create missing directories, as git does for a file it writes.
 * @param[out] ret_name  The last component, borrowed from `path`.
 * @return a descriptor, or -errno as above; -EINVAL when the last component is "", "." or "..".
 */
int al_nofollow_open_parent(int dir_fd, const char *path, bool make, const char **ret_name);

/** Remove the parent directories of `path`, innermost first, as long as they are empty. */
void al_nofollow_remove_parents(int dir_fd, const char *path);

/**
 * openat2(2) with O_CLOEXEC and RESOLVE_NO_MAGICLINKS.
 *
 * @param resolve  RESOLVE_* of <linux/openat2.h>; 0 follows links anywhere.
 * @return a descriptor, or -errno; -ENOSYS on kernels before 5.6 and where a seccomp filter hides
 *         openat2.
 */
int al_beneath_open(int dir_fd, const char *path, int flags, uint64_t resolve);

/** The failure to report after -ENOSYS from al_beneath_open(). */
int al_beneath_missing(struct al_error *err);

/** Join `given` to `base`, and remove '.', '//' and a trailing '/'.  Purely textual.  Caller frees.
 */
char *al_beneath_join(const char *base, const char *given);

/**
 * Resolve an absolute path.  Links are followed as far as the path exists and can be read; the
 * rest is appended.  The result is only a name: it grants no access.
 *
 * @param[out] ret_path  Canonical and absolute.  Caller frees.
 * @param      links     Receives the location of every link followed; may be NULL.
 * @return 0, or -errno: -ELOOP after 40 links, -ENAMETOOLONG, -ENOENT for `..` below a missing
 *         directory.
 */
int al_beneath_trace(const char *path, char **ret_path, struct al_strv *links);

/** The first leading part of a path that is there and is no directory; NULL: there is none.  Caller
 * frees. */
char *al_nofollow_blocked(int dir_fd, const char *path);

/**
 * Find the first file in a directory and those below it, by the order of their paths.
 *
 * @param path     What the paths of the files begin with.
 * @param is_left  Whether a file is passed over.
 * @return NULL: there is none.  A directory that cannot be read counts as a file.  Caller frees.
 */
char *al_nofollow_find_file(int parent_fd, const char *name, const char *path,
                            bool (*is_left)(const void *payload, const char *path),
                            const void *payload);

/** Test whether a component of a path is `..`. */
bool al_path_goes_up(const char *path);

/** Test whether no component of a path is empty, `.` or `..`. */
bool al_path_is_plain(const char *path);

#endif
