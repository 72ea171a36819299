// SPDX-License-Identifier: Apache-2.0
/* Seccomp filters: what Landlock cannot see. */
#ifndef AL_PROC_SECCOMP_H
#define AL_PROC_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>

/**
 * Where exec-once finds the program's path: the only address execve may be called with.
 *
 * Low, where no loader, heap or sanitizer shadow is placed on x86_64 and aarch64, on a boundary of
 * 64 KiB pages.  The path begins one byte later, so that no allocator in the new program can ever
 * return this address for a path of its own.
 */
#define AL_EXEC_PAGE 0x2a610000UL
#define AL_EXEC_PATH (AL_EXEC_PAGE + 1)

/** The filter for a combination of guards; NULL when none is wanted.  `network` alone refuses what
 * every filter does, and nothing else. */
const struct sock_fprog *al_filter_get(bool exec_once, bool no_sockets, bool network);

#endif
