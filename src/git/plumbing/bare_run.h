// SPDX-License-Identifier: Apache-2.0
/* git children that work side by side, or piece by piece. */
#ifndef AL_GIT_PLUMBING_BARE_RUN_H
#define AL_GIT_PLUMBING_BARE_RUN_H

#include <stdbool.h>

#include "base/error.h"
#include "git/command.h"
#include "git/plumbing/bare.h"
#include "proc/proc.h"

/** A git child that reads while its caller does other work. */
struct al_beside {
    struct al_spawned *child;
    int out_fd, err_fd;
};
#define AL_BESIDE_INIT ((struct al_beside){ .out_fd = -1, .err_fd = -1 })

/**
 * Start a command.
 *
 * @return As al_git_read().  al_beside_clear() is due in each case.
 * Threads: the child ends with the thread that started it.
 */
int al_beside_begin(const struct al_location *at, const struct al_git_command *command,
                    struct al_beside *ret_beside, struct al_error *err);

/** Wait for its end, and pass on its output.  As al_git_read(). */
int al_beside_end(const struct al_location *at, struct al_beside *beside, struct al_sink sink,
                  struct al_error *err);

/** End the child if it works still. */
void al_beside_clear(struct al_beside *beside);

/** A git child that takes its input piece by piece, and works again when there is more. */
struct al_fed;

/**
 * Give a child more input, and wait until its output ends with `until`.
 *
 * @param command  Starts the child if there is none yet; without input.
 * @param fed      NULL at first, and again after a failure; one that was closed is started anew.
 *                 For al_fed_end().
 * @return As al_git_read(); AL_ERR_EXECUTION when the child ends instead.
 * Threads: the child ends with the thread that started it.
 */
int al_fed_add(const struct al_location *at, const struct al_git_command *command,
               struct al_fed **fed, const struct al_str *input, const char *until,
               struct al_str *ret_output, struct al_error *err);

/** End the input: the child works no more, and ends meanwhile.  NULL is allowed. */
void al_fed_close(struct al_fed *fed);

/** End the input, wait for the child to end, and set *fed to NULL.  NULL in it is allowed. */
void al_fed_end(struct al_fed **fed);

#endif
