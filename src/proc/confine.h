// SPDX-License-Identifier: Apache-2.0
/*
 * Landlock rulesets: which files and directories the kernel lets a child use.
 *
 * A ruleset is built from a list of paths and kept as a descriptor.  Each child that uses it
 * restricts itself with it.  A Landlock rule holds an inode, so a ruleset is built for each child:
 * a path may name another file by then, for example after a package upgrade replaced git.
 *
 * Source: landlock(7), <linux/landlock.h>, docs/SECURITY-MODEL.md.
 */
#ifndef AL_PROC_CONFINE_H
#define AL_PROC_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/** Rights of a rule; combined with |. */
enum al_right {
    AL_RIGHT_EXECUTE = 1 << 0,    /**< execve this file (a single file, never a directory) */
    AL_RIGHT_READ = 1 << 1,       /**< read files, and list directories, at and below the path */
    AL_RIGHT_WRITE = 1 << 2,      /**< write, truncate, create, rename and remove regular files,
                                       directories and symbolic links below the path; never
                                       devices, fifos, sockets */
    AL_RIGHT_WRITE_FILE = 1 << 3, /**< write and truncate this one file (/dev/null) */
    AL_RIGHT_EXECUTE_BENEATH = 1 << 4, /**< execve every file below this directory: for a compiler's
                                          own tools and what it built */
};

struct al_confine_rule {
    const char *path; /**< absolute; symbolic links are followed when the ruleset is built */
    unsigned rights;  /**< enum al_right */
    bool optional;    /**< a missing path is skipped */
    bool by_fd;       /**< the rule is for `fd` instead of `path`, since an agent may replace what
                          `path` names */
    int fd;
};

/** A list of rules, at first zeros.  The paths and descriptors in it outlive it. */
struct al_confine_rules {
    struct al_confine_rule *items;
    size_t count;
};

void al_confine_rules_clear(struct al_confine_rules *rules);

/** Append a rule; a path that is NULL has none. */
void al_confine_add(struct al_confine_rules *rules, const char *path, unsigned rights,
                    bool optional);
/** Append a rule for what is open, which messages call `what`. */
void al_confine_add_fd(struct al_confine_rules *rules, const char *what, int fd, unsigned rights);
/** Append rules for paths that may be missing. */
void al_confine_add_all(struct al_confine_rules *rules, const char *const *paths, size_t count,
                        unsigned rights);

/** Keep this process, and what it starts, from abstract UNIX sockets and processes outside; no
 * effect below ABI 6.  0, or -1 with errno. */
int al_confine_scope(void);

/** The Landlock ABI of this kernel; 0: none.  Determined once.  Threads: any. */
int al_confine_abi(void);

/**
 * Build a ruleset that allows only what the rules allow, as far as this kernel's ABI can restrict:
 *
 *   from ABI  restricted
 *   1         file system access, except by rule
 *   4         TCP bind and connect
 *   6         abstract UNIX sockets and signals to processes outside
 *
 * @param connects  TCP connect is allowed; bind is not.
 * @return 0, or AL_ERR_SANDBOX when the kernel has no Landlock, AL_ERR_EXECUTION when a path that
 *         is not optional is missing or a system call failed.
 * Ownership: *ret_ruleset_fd, for landlock_restrict_self(2), is closed by al_ruleset_free().
 * Threads: any.
 */
int al_ruleset_new(const struct al_confine_rule *rules, size_t nrules, bool connects,
                   int *ret_ruleset_fd, struct al_error *err);

/** Close the descriptor of a ruleset; 0: there is none. */
void al_ruleset_free(int ruleset_fd);

#endif
