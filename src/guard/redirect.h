// SPDX-License-Identifier: Apache-2.0
/* Redirects of a command line: files below the working directory, never reached through a symbolic
 * link, never in a git directory. */
#ifndef AL_GUARD_REDIRECT_H
#define AL_GUARD_REDIRECT_H

#include "base/error.h"
#include "guard/root.h"

enum al_redirect_mode {
    AL_REDIRECT_READ,
    AL_REDIRECT_WRITE, /**< create or truncate */
    AL_REDIRECT_APPEND,
};

/**
 * Check a name by its text alone.  `/dev/null` is always allowed; any other absolute name has to be
 * below the root.
 *
 * @return 0; AL_ERR_BAD_ARGS for an empty name; AL_ERR_SANDBOX for a name outside the root, and for
 *         a `.git` component in any case (AL_CODE_PROTECTED_PATH).
 */
int al_redirect_check(const struct al_root *root, const char *given, struct al_error *err);

/** A checked redirect, and the directory in which it was checked. */
struct al_redirect {
    const char *given; /**< borrowed */
    const char *name;  /**< in the directory; NULL: /dev/null */
    int dir_fd;        /**< -errno: there is no such directory */
};

#define AL_REDIRECT_INIT ((struct al_redirect){ .dir_fd = -1 })

/**
 * Check a name, and open its directory.  The redirect is later opened in this directory, even if
 * the tree has changed.
 *
 * @return 0, even if the directory is missing; the errors of al_redirect_check(); AL_ERR_SANDBOX
 *         when the path contains or is a link, when the directory is a git directory of any name
 *         (AL_CODE_PROTECTED_PATH), and when the file would become a part of one; AL_ERR_EXECUTION
 *         when the directory cannot be opened.
 */
int al_redirect_find(const struct al_root *root, const char *given,
                     struct al_redirect *ret_redirect, struct al_error *err);

/**
 * Open a checked redirect.
 *
 * @param[out] ret_fd  Close-on-exec, a regular file or /dev/null.
 * @return 0; AL_ERR_SANDBOX when the file has become a link, or the directory a git directory;
 *         AL_ERR_EXECUTION when the file cannot be opened or is not a regular file.
 */
int al_redirect_open(const struct al_redirect *redirect, enum al_redirect_mode mode, int *ret_fd,
                     struct al_error *err);

/**
 * Check an output file that a program is given by name.  Links are followed, as the program will
 * follow them, and have to stay inside the working directory.  The result holds only for this
 * moment; the kernel confines the program itself.
 *
 * @return 0, also for /dev/null and for a file that does not exist; AL_ERR_SANDBOX for a file
 *         outside, by its text or by a link, and for one in a git directory of any name.
 */
int al_output_check(const struct al_root *root, const char *given, struct al_error *err);

void al_redirect_clear(struct al_redirect *redirect);

#endif
