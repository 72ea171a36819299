// SPDX-License-Identifier: Apache-2.0
/*
 * Resolving paths of an agent or of a repository against the allowed roots.
 *
 * Everything is reached from a root's descriptor with openat2(2), so the file that was checked is
 * the file that is used.  `..` components are refused even where they would be harmless.  Symbolic
 * links are followed as long as they stay inside a root.
 *
 * Every refusal is AL_ERR_SANDBOX with the message "Path outside sandbox: <path as given>", made
 * safe for a terminal.  The message reveals nothing about the file system outside.
 *
 * Source: openat2(2) RESOLVE_BENEATH.
 */
#ifndef AL_GUARD_PATH_H
#define AL_GUARD_PATH_H

#include <sys/types.h>

#include "base/error.h"
#include "guard/root.h"
#include <stdbool.h>
#include <stddef.h>

/** A resolved path.  Set up with AL_PATH_INIT. */
struct al_path {
    const struct al_root *root; /**< borrowed from the roots */
    char *abs;   /**< canonical and absolute; for a path that does not exist, its nearest existing
                    parent with the missing rest appended */
    int fd;      /**< O_PATH descriptor; -1 when the path does not exist */
    mode_t mode; /**< st_mode when fd >= 0, else 0 */
};

#define AL_PATH_INIT ((struct al_path){ .fd = -1 })

void al_path_clear(struct al_path *path);

/** The path relative to its root, "." for the root itself.  Borrowed from path->abs. */
const char *al_path_rel(const struct al_path *path);

/**
 * Resolve a path that an agent gave.
 *
 * A path that does not exist is resolved as far as it exists.  The rest must be plain components.
 * A dangling link that points outside is refused like a link that resolves.
 *
 * @param base  An absolute path inside a root, for a relative `given`.
 * @return 0, with *ret_path; AL_ERR_BAD_ARGS for an empty path and one over PATH_MAX;
 *         AL_ERR_SANDBOX for a path that is or leads outside; AL_ERR_EXECUTION "No such directory:
 *         <given>" (the root's own path if `given` is ".") when the root has vanished or cannot be
 *         read, and when a file inside cannot be used.
 */
int al_path_resolve(const struct al_roots *roots, const char *base, const char *given,
                    struct al_path *ret_path, struct al_error *err);

/**
 * Open a path that comes from a repository: a gitfile's target, commondir, an alternate.  It has to
 * resolve inside a root; `..` is allowed.
 *
 * @param      flags    As for open(2), without O_CREAT.  O_CLOEXEC is added, and O_NONBLOCK |
 *                      O_NOCTTY unless O_PATH is set.
 * @param[out] ret_abs  Canonical.  Caller frees.
 * @return 0; AL_ERR_NOT_FOUND when nothing exists but the path would be inside; AL_ERR_EXECUTION
 *         when the file is inside and cannot be opened; AL_ERR_SANDBOX for everything else.
 */
int al_roots_open(const struct al_roots *roots, const char *abs, int flags, int *ret_fd,
                  char **ret_abs, struct al_error *err);

/**
 * Create a directory and its missing parents below a root, mode 0750.  On success path->fd is open.
 *
 * @param path   From al_path_resolve().
 * @param given  The path as the agent gave it, for messages.
 * @return 0; AL_ERR_SANDBOX with AL_CODE_PROTECTED_PATH ("Protected path: <given>") for a `.git`
 *         component in any case, inside a git directory of any name, and where a part of one would
 *         be created; AL_ERR_SANDBOX when a link leads outside.
 */
int al_path_mkdirs(struct al_path *path, const char *given, struct al_error *err);

/**
 * Fold the first `len` bytes of a path, component by component.  Paths that some file system takes
 * for one fold to the same text.  The reverse does not hold: beyond what folds to ASCII, all names
 * with other characters do.
 *
 * @return caller frees.
 */
char *al_fold_path(const char *path, size_t len);

/** Test whether a file system may take a name for this one, which is ASCII in small letters. */
bool al_fold_is(const char *name, size_t len, const char *ascii);

#endif
