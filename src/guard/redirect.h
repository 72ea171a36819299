// SPDX-License-Identifier: Apache-2.0
/*
 * Files a command line reads from and writes to: below the working directory, never through a
 * symbolic link, never in a git directory.
 */
#ifndef AL_GUARD_REDIRECT_H
#define AL_GUARD_REDIRECT_H

#include "guard/root.h"
#include "util/error.h"

enum al_redirect_mode {
    AL_REDIRECT_READ,
    AL_REDIRECT_WRITE, /**< create, or make empty */
    AL_REDIRECT_APPEND,
};

/**
 * Check a name by its words alone.
 *
 * `/dev/null` is always fine; another absolute name is one below the root.
 *
 * @return 0; AL_ERR_BAD_ARGS for an empty name; AL_ERR_SANDBOX for one outside, and for one with a
 *         `.git` component in any case (AL_CODE_PROTECTED_PATH).
 */
int al_redirect_check(const struct al_root *root, const char *given, struct al_error *err);

/** A redirect that was checked, and the directory it was checked in. */
struct al_redirect {
    const char *given; /**< borrowed */
    const char *name;  /**< in the directory; NULL: /dev/null */
    int dir_fd;        /**< -errno: there was no such directory */
};

#define AL_REDIRECT_INIT ((struct al_redirect){ .dir_fd = -1 })

/**
 * Check a name, and keep the directory it lies in: whatever becomes of the tree, the redirect is
 * opened there.
 *
 * @return 0, also for one whose directory is missing; what al_redirect_check() says; AL_ERR_SANDBOX
 *         where a link is on the way or at its end, and inside a git directory of any name
 *         (AL_CODE_PROTECTED_PATH), or where a part of one would be made; AL_ERR_EXECUTION when the
 *         directory cannot be opened.
 */
int al_redirect_find(const struct al_root *root, const char *given,
                     struct al_redirect *ret_redirect, struct al_error *err);

/**
 * Open what was found.
 *
 * @param[out] ret_fd  Close-on-exec, of a regular file or /dev/null.
 * @return 0; AL_ERR_SANDBOX when it has become a link, or the directory one of git's;
 *         AL_ERR_EXECUTION when it cannot be opened or is no regular file.
 */
int al_redirect_open(const struct al_redirect *redirect, enum al_redirect_mode mode, int *ret_fd,
                     struct al_error *err);

/**
 * Check where a program would write that is given this name in the working directory: links are
 * followed, as it will, and have to stay inside.  What it says holds for the moment; the kernel
 * holds the program.
 *
 * @return 0, also for /dev/null and for what is not there yet; AL_ERR_SANDBOX for what lies or
 *         leads outside, by its words or by a link, or into a git directory of any name.
 */
int al_output_check(const struct al_root *root, const char *given, struct al_error *err);

void al_redirect_clear(struct al_redirect *redirect);

#endif
