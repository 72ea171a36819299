// SPDX-License-Identifier: Apache-2.0
/* For guard/ only: open files beneath a descriptor, and follow names that cannot be opened. */
#ifndef AL_GUARD_BENEATH_H
#define AL_GUARD_BENEATH_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"
#include "util/str.h"

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

#endif
