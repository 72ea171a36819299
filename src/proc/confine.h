// SPDX-License-Identifier: Apache-2.0
/*
 * Landlock rulesets: what a child may touch, whatever it tries.
 *
 * A ruleset is built once from a list of paths, kept as a descriptor and put on by each child that
 * uses it.  It remembers device and inode of every path it was built from, since a rule holds the
 * inode: after a package upgrade replaced git, the ruleset is stale and is built again.
 *
 * Source: landlock(7), <linux/landlock.h>, docs/SECURITY-MODEL.md.
 */
#ifndef AL_PROC_CONFINE_H
#define AL_PROC_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

/** Rights of one rule; combined with |. */
enum al_right {
    AL_RIGHT_EXECUTE = 1 << 0,       /**< execve this file (a single file, never a directory) */
    AL_RIGHT_READ = 1 << 1,          /**< read files, and list directories, at and below the path */
    AL_RIGHT_WRITE = 1 << 2,         /**< write, truncate, create, rename and remove regular files,
                                          directories and symbolic links below the path; never
                                          devices, fifos, sockets */
    AL_RIGHT_WRITE_FILE = 1 << 3,    /**< write and truncate this one file (/dev/null) */
    AL_RIGHT_EXECUTE_BELOW = 1 << 4, /**< execve every file below this directory: for a compiler's
                                          own tools, and what it built */
};

struct al_confine_rule {
    const char *path; /**< absolute; symbolic links are followed when the ruleset is built */
    unsigned rights;  /**< enum al_right */
    bool optional;    /**< a missing path is skipped (and noticed when it appears) */
    /** The rule is about the open descriptor `fd` and not about what has the name by now: for
     * directories an agent may write beside.  Such a rule never makes a ruleset stale. */
    bool by_fd;
    int fd;
};

/** The Landlock ABI of this kernel, 0 where there is none.  Asked once, then remembered. */
int al_confine_abi(void);

struct al_ruleset;

/**
 * Build a ruleset that allows what the rules say and, of what Landlock can handle at this ABI,
 * nothing else: file system rights by rule, no TCP bind or connect (ABI 4), no abstract sockets and
 * no signals out of the domain (ABI 6).
 *
 * @return 0, or AL_ERR_SANDBOX when the kernel has no Landlock, AL_ERR_EXECUTION when a path that
 *         is not optional is missing or a system call failed.
 * Ownership: the caller frees it with al_ruleset_free().  Threads: safe.
 */
int al_ruleset_new(const struct al_confine_rule *rules, size_t nrules,
                   struct al_ruleset **ret_ruleset, struct al_error *err);

/** The same, but TCP connections may be made (and none taken). */
int al_ruleset_new_connecting(const struct al_confine_rule *rules, size_t nrules,
                              struct al_ruleset **ret_ruleset, struct al_error *err);

void al_ruleset_free(struct al_ruleset *ruleset);

/** The descriptor children restrict themselves with.  Borrowed. */
int al_ruleset_fd(const struct al_ruleset *ruleset);

/** False when any path of it now names another inode (or appeared, or vanished). */
bool al_ruleset_is_current(const struct al_ruleset *ruleset);

#endif
