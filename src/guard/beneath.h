// SPDX-License-Identifier: Apache-2.0
/* For guard/ alone: opening below a descriptor, and following names where nothing can be opened. */
#ifndef AL_GUARD_BENEATH_H
#define AL_GUARD_BENEATH_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"
#include "util/str.h"

/**
 * openat2(2), with O_CLOEXEC and never through a magic link of /proc.
 *
 * @param resolve  RESOLVE_* of <linux/openat2.h>; 0 to follow links anywhere.
 * @return a descriptor, or -errno; -ENOSYS from kernels before 5.6, and where a filter hides it.
 */
int al_beneath_open(int dir_fd, const char *path, int flags, uint64_t resolve);

/** The failure to report when al_beneath_open() gave -ENOSYS. */
int al_beneath_missing(struct al_error *err);

/** `given` on top of `base` as an absolute path without '.', '//' and a '/' at the end, looked at
 * as text alone.  Caller frees. */
char *al_beneath_join(const char *base, const char *given);

/**
 * Where an absolute path leads: links followed as far as things exist and can be looked at, the
 * rest appended.  By name, so it says where something would be and grants nothing.
 *
 * @param[out] ret_path  Canonical and absolute; owned by the caller.
 * @param      links     Where each followed link lies is added here; may be NULL.
 * @return 0, or -errno: -ELOOP after 40 links, -ENAMETOOLONG, -ENOENT for `..` below what is
 * missing.
 */
int al_beneath_trace(const char *path, char **ret_path, struct al_strv *links);

#endif
