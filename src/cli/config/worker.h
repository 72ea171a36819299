// SPDX-License-Identifier: Apache-2.0
/*
 * Worker files: Markdown whose frontmatter, YAML between two lines `---`, chooses the toolsets of a
 * session and configures them.
 *
 * Roots, grants and rules of a worker file only narrow what the configuration allows.  The text
 * below the frontmatter is for the agent and is not looked at.  docs/RULES.md is the reference.
 */
#ifndef AL_CLI_CONFIG_WORKER_H
#define AL_CLI_CONFIG_WORKER_H

#include "base/error.h"
#include "base/value.h"
#include "guard/grant.h"
#include "guard/policy.h"

#define AL_WORKER_FRONTMATTER_MAX_BYTES 65536u
#define AL_WORKER_NAME_MAX_BYTES        64u

/** A worker file.  Zero-initialised, there is none. */
struct al_worker {
    char *file; /**< absolute; NULL: there is no worker file */
    char *name; /**< one line of safe text */

    /** The configuration of the toolsets: a mapping from their names, in order of precedence, to a
     * mapping or to nothing.  NULL: the toolsets are those of the configuration.  Borrowed from
     * `frontmatter`. */
    const struct al_value *toolsets;

    const struct al_value *roots; /**< a list of strings; NULL: not narrowed.  Borrowed */
    struct al_grants grants;      /**< one grant, or none */
    struct al_policy policy;      /**< rules that ask or deny */
    struct al_value frontmatter;
};

void al_worker_clear(struct al_worker *worker);

/**
 * Read a worker file.
 *
 * @param path  Absolute; links are followed.
 * @return 0, or AL_ERR_BAD_ARGS with one line of safe text, "<file>:<line>: <key>: <what is
 *         wrong>"; the worker is then unchanged.
 */
int al_worker_read(const char *path, struct al_worker *ret_worker, struct al_error *err);

/** The name of a toolset that a worker file calls `name`: "staging" may be called "git", and
 * "files" may be called "filesystem".  Borrowed. */
const char *al_worker_toolset(const char *name);

#endif
