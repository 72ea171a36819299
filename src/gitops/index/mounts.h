// SPDX-License-Identifier: Apache-2.0
/*
 * What is mounted where, from /proc/self/mountinfo, and what a file system is known to do.
 *
 * The list is read once, and again when the kernel says that it changed.
 *
 * Threads: safe.
 *
 * Source: proc_pid_mountinfo(5), statfs(2).
 */
#ifndef AL_GITOPS_INDEX_MOUNTS_H
#define AL_GITOPS_INDEX_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>

/** A number that is another one after each mount and unmount; 0 when the list cannot be read. */
uint64_t al_mounts_serial(void);

/** Test whether anything is mounted below a directory; true when that cannot be told.  `dir` is
 * absolute and canonical. */
bool al_mounts_below(const char *dir);

/** What the file times of a file system are good for. */
enum al_file_times {
    AL_TIMES_UNKNOWN, /**< not known: a server's clock, or none at all */
    AL_TIMES_LOCAL,   /**< a file that changes gets the time of this kernel's clock */
    AL_TIMES_OF_DIRS, /**< and so does a directory whenever a name in it appears or vanishes */
};

/** The file times of the file system that holds `path`. */
enum al_file_times al_file_times_of(const char *path);

#endif
