// SPDX-License-Identifier: Apache-2.0
/* Open a path below a descriptor without following a symbolic link in any component.  For paths
 * that come from a repository, where git itself would not have followed a link. */
#ifndef AL_GUARD_NOFOLLOW_H
#define AL_GUARD_NOFOLLOW_H

#include <stdbool.h>

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

#endif
