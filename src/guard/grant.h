// SPDX-License-Identifier: Apache-2.0
/*
 * Grants: named restrictions of a session.
 *
 * A grant lists tools by glob, and directories with `r` or `rw`; anything not listed is refused.
 * It has every tool without a list of tools.  It covers everything below the roots without a list
 * of directories, for writing.
 */
#ifndef AL_GUARD_GRANT_H
#define AL_GUARD_GRANT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

/** The access to a directory and everything below it. */
enum al_access { AL_ACCESS_NONE, AL_ACCESS_READ, AL_ACCESS_WRITE };

struct al_grant_dir {
    char *path; /**< absolute, without a trailing '/' ("" is the root directory) */
    enum al_access access;
};

struct al_grant {
    char *name;
    bool limits_tools; /**< false: every tool */
    struct al_strv tools;
    unsigned tools_line; /**< of the file, where `tools` begins; 0: unknown */
    bool limits_dirs;    /**< false: every directory, for writing */
    struct al_grant_dir *dirs;
    size_t ndirs;
    const struct al_grant *also; /**< another grant that has to cover the same; NULL: none.
                                    Borrowed */
};

/** The configured grants.  Read only while a session runs. */
struct al_grants {
    struct al_grant *items;
    size_t count;
};

#define AL_GRANTS_INIT ((struct al_grants){ .items = NULL })

void al_grants_clear(struct al_grants *grants);

/** Add a grant without restrictions, for the caller to restrict.  Borrowed until the next one is
 * added. */
struct al_grant *al_grants_add(struct al_grants *grants, const char *name);

/**
 * Add a directory to a grant.
 *
 * @param path    As configured: absolute, without "." and ".." components.
 * @param access  "r" or "rw".
 * @return 0, or AL_ERR_BAD_ARGS saying what is wrong (also for a directory that is there already).
 */
int al_grant_add_dir(struct al_grant *grant, const char *path, const char *access,
                     struct al_error *err);

/**
 * Choose the grant of a session.  Links in the paths of its directories are resolved now, once:
 * changing a link later has no effect.
 *
 * @param[out] ret_grant  Stays in the list.
 * @return 0, or AL_ERR_BAD_ARGS naming the configured grants.
 */
int al_grants_choose(struct al_grants *grants, const char *name, struct al_grant **ret_grant,
                     struct al_error *err);

/** Test whether a grant has a tool.  NULL: everything is granted. */
bool al_grant_has_tool(const struct al_grant *grant, const char *tool);

/**
 * Check that a grant has a tool.  NULL: everything is granted.
 * @return 0, or AL_ERR_NOT_GRANTED naming the grant.
 */
int al_grant_check_tool(const struct al_grant *grant, const char *tool, struct al_error *err);

/**
 * Check that a grant covers a directory.  The longest listed directory that `dir` equals or lies
 * below decides.
 *
 * @param grant   NULL: everything is granted.
 * @param dir     Canonical.
 * @param writes  Whether anything there may be changed.
 * @return 0, or AL_ERR_NOT_GRANTED naming the grant.
 */
int al_grant_check_dir(const struct al_grant *grant, const char *dir, bool writes,
                       struct al_error *err);

/** Test whether a grant covers a directory, or anything below it.  NULL: everything is granted. */
bool al_grant_reaches(const struct al_grant *grant, const char *dir);

/** Check that a grant covers a directory and everything below it, for a program that may use any of
 * it.  Otherwise as al_grant_check_dir(). */
int al_grant_check_tree(const struct al_grant *grant, const char *dir, bool writes,
                        struct al_error *err);

#endif
