// SPDX-License-Identifier: Apache-2.0
/* Seccomp filters, for what Landlock does not cover.  Source: seccomp(2). */
#ifndef AL_PROC_SECCOMP_H
#define AL_PROC_SECCOMP_H

#include <linux/filter.h>

/**
 * The page that holds the program's path: the only address that exec-once lets execve use.
 *
 * The address is low, where neither loader nor heap nor sanitizer shadow lies on x86_64 and
 * aarch64, and aligned to 64 KiB pages.  The path begins one byte later, because no allocator of
 * the new program returns an unaligned address.
 */
#define AL_EXEC_PAGE 0x2a610000UL
#define AL_EXEC_PATH (AL_EXEC_PAGE + 1)

struct al_confinement;

/** The filter for the guards of `sandbox`, see proc/proc.h; NULL: none. */
const struct sock_fprog *al_filter_get(const struct al_confinement *sandbox);

#endif
