// SPDX-License-Identifier: Apache-2.0
/*
 * Opening what a path names and nothing else: below a descriptor, with no link in any component.
 * For paths that a repository holds, where git itself would never have gone through a link.
 */
#ifndef AL_GUARD_NOFOLLOW_H
#define AL_GUARD_NOFOLLOW_H

#include <stdbool.h>

/**
 * Open `path` below the directory `dir_fd`; "" is the directory itself.
 *
 * @param flags  As for open(2), without O_CREAT; O_CLOEXEC, O_NOCTTY and O_NONBLOCK are added.
 * @return a descriptor, or -errno: -ELOOP where a component is a link, -EXDEV for a path that is
 *         absolute or has a `..` that leads above.
 */
int al_nofollow_open(int dir_fd, const char *path, int flags);

/**
 * Open the directory that `path` lies in, below `dir_fd`.
 *
 * @param      make      Make the directories that are missing, as git does for a file it writes.
 * @param[out] ret_name  The last component, borrowed from `path`.
 * @return a descriptor, or -errno as above; -EINVAL when the last component is none ("", ".",
 * "..").
 */
int al_nofollow_open_parent(int dir_fd, const char *path, bool make, const char **ret_name);

/** Remove the directories on the way to `path`, innermost first, as long as they are empty. */
void al_nofollow_remove_parents(int dir_fd, const char *path);

#endif
