// SPDX-License-Identifier: Apache-2.0
/*
 * Grants: a named part of what a session could do.
 *
 * A grant only narrows.  It lists tools by glob, and directories with `r` or `rw`; what it does not
 * list is not granted.  Without a list of tools it means every tool, without a list of directories
 * everything below the roots, for writing.
 */
#ifndef AL_GUARD_GRANT_H
#define AL_GUARD_GRANT_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"
#include "util/str.h"

/** What may be done in a directory and below it. */
enum al_access { AL_ACCESS_NONE, AL_ACCESS_READ, AL_ACCESS_WRITE };

struct al_grant_dir {
    char *path; /**< absolute, without '/' at the end ("" is the root directory) */
    enum al_access access;
};

struct al_grant {
    char *name;
    bool limits_tools; /**< `tools` counts */
    struct al_strv tools;
    bool limits_dirs; /**< `dirs` counts */
    struct al_grant_dir *dirs;
    size_t ndirs;
};

/** The configured grants.  Read only once a session runs. */
struct al_grants {
    struct al_grant *items;
    size_t count;
};

#define AL_GRANTS_INIT ((struct al_grants){ .items = NULL })

void al_grants_clear(struct al_grants *grants);
/** Copy into a list that holds nothing yet. */
void al_grants_copy(struct al_grants *to, const struct al_grants *from);

/** Add a grant of everything; the caller narrows it. */
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
 * Choose the grant of a session.  Links on the way to its directories are followed here, once:
 * a link that is changed later changes nothing.
 *
 * @return 0, or AL_ERR_BAD_ARGS naming the configured ones when there is none of this name.
 * Ownership: *ret_grant stays in the list.
 */
int al_grants_choose(struct al_grants *grants, const char *name, const struct al_grant **ret_grant,
                     struct al_error *err);

/** Whether a grant has a tool; NULL is no grant, and has them all. */
bool al_grant_has_tool(const struct al_grant *grant, const char *tool);

/** AL_ERR_NOT_GRANTED naming the grant, when it lacks the tool; NULL has them all. */
int al_grant_check_tool(const struct al_grant *grant, const char *tool, struct al_error *err);

/**
 * Whether a grant covers a directory of the session.
 *
 * The longest listed directory that `dir` equals or lies below decides.
 *
 * @param grant   May be NULL: everything is covered.
 * @param dir     Canonical.
 * @param writes  Whether anything there may be changed.
 * @return 0, or AL_ERR_NOT_GRANTED naming the grant.
 */
int al_grant_check_dir(const struct al_grant *grant, const char *dir, bool writes,
                       struct al_error *err);

#endif
