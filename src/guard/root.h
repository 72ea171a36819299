// SPDX-License-Identifier: Apache-2.0
/*
 * Allowed roots, and paths an agent names resolved against them.
 *
 * A root is opened once; everything below it is reached from that descriptor with openat2(2), so
 * what was checked is what is used.  `..` components are refused even where they would be
 * harmless; symbolic links are followed as long as they stay inside a root.
 *
 * Every refusal is AL_ERR_SANDBOX with the message "Path outside sandbox: <path as given>" (made
 * safe for a terminal), so that nothing about the world outside leaks.
 */
#ifndef AL_GUARD_ROOT_H
#define AL_GUARD_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"
#include "util/str.h"

struct al_root {
    char *path; /**< canonical and absolute, without a '/' at the end */
    int fd;     /**< O_PATH | O_DIRECTORY */
    dev_t dev;
    ino_t ino;
};

struct al_roots {
    struct al_root *items;
    size_t count;
    bool allow_absolute; /**< absolute paths are accepted (and still have to be inside) */
};

#define AL_ROOTS_INIT ((struct al_roots){ .allow_absolute = true })

void al_roots_clear(struct al_roots *roots);

/**
 * Add a root.
 *
 * @param path       The person's own words: relative to the current directory, links followed.
 * @param forbidden  Paths no root may equal, be a parent of: airlock's configuration, journal and
 *                   state; entries that do not exist are compared by their nearest existing parent.
 * @param home       The home directory, which may not be a root itself; NULL skips the check.
 * @return 0, or AL_ERR_BAD_ARGS with one line that says what to do instead (also for "/");
 *         AL_ERR_EXECUTION where openat2(2) is missing (Linux before 5.6).
 * A root that equals or lies inside one already added is fine.
 */
int al_roots_add(struct al_roots *roots, const char *path, const struct al_strv *forbidden,
                 const char *home, struct al_error *err);

/** A resolved path.  Set up with AL_PATH_INIT. */
struct al_path {
    const struct al_root *root; /**< borrowed from the roots */
    char *abs;                  /**< canonical absolute path (of the nearest existing parent, with
                                     the missing rest appended, when it does not exist) */
    int fd;                     /**< O_PATH descriptor, or -1 when it does not exist */
    mode_t mode;                /**< st_mode when fd >= 0, else 0 */
};

#define AL_PATH_INIT ((struct al_path){ .fd = -1 })

void al_path_clear(struct al_path *path);

/** The part of `path` below its root, "." for the root itself.  Borrowed from path->abs. */
const char *al_path_rel(const struct al_path *path);

/**
 * Resolve `given` against `base` (an absolute path inside a root; used for relative paths).
 *
 * A path that does not exist is resolved as far as it exists; the rest must be plain components,
 * and a dangling link that points outside is refused like one that resolves.
 *
 * @return 0; AL_ERR_BAD_ARGS for an empty path or one over PATH_MAX; AL_ERR_SANDBOX for everything
 *         that is or leads outside; AL_ERR_EXECUTION "No such directory: <given>" (the root's
 *         own path when given is ".") when the root has vanished or cannot be read, and when
 * something inside cannot be used.
 */
int al_path_resolve(const struct al_roots *roots, const char *base, const char *given,
                    struct al_path *ret_path, struct al_error *err);

/** The root an absolute canonical path lies in, or NULL. */
const struct al_root *al_roots_find(const struct al_roots *roots, const char *abs);

/**
 * Open a path that is not the agent's words but a repository's (a gitfile's target, commondir, an
 * alternate): must resolve inside a root, `..` allowed.  On success *ret_abs is canonical.
 *
 * @param flags  As for open(2), without O_CREAT; O_CLOEXEC is added, and O_NONBLOCK unless O_PATH.
 * @return 0; AL_ERR_NOT_FOUND when there is nothing, but it would be inside; AL_ERR_EXECUTION when
 *         it is inside and cannot be opened; AL_ERR_SANDBOX for everything else.
 */
int al_roots_open(const struct al_roots *roots, const char *abs, int flags, int *ret_fd,
                  char **ret_abs, struct al_error *err);

/**
 * Create a directory and its missing parents below a root, mode 0750, never through a link that
 * leads outside and never with a `.git` component (any case: AL_ERR_SANDBOX with
 * AL_CODE_PROTECTED_PATH and the message "Protected path: <given>"), nor in a git directory of any
 * name or as a part of one.  `path` comes from
 * al_path_resolve(); on success its fd is open.
 */
int al_path_mkdirs(struct al_path *path, const char *given, struct al_error *err);

/** True when any component of the path is `.git` in any case, or a form NTFS/HFS would take
 * for it. */
bool al_path_has_dot_git(const char *path);

#endif
