// SPDX-License-Identifier: Apache-2.0
/* A command of the user's own, in the place where airlock itself was started: unconfined, or in a
 * sandbox whose git it runs. */
#ifndef AL_PROC_FOREGROUND_H
#define AL_PROC_FOREGROUND_H

#include <signal.h>
#include <spawn.h>

#include "base/error.h"

/**
 * Start a program of the user's own, with the signals as airlock got them.
 *
 * @param argv   The program, found as a shell does, and its arguments; ended by NULL.
 * @param env    NULL: airlock's own.
 * @param mask   NULL: the blocked signals of this thread.
 * @param flags  More flags of posix_spawn(3).
 * @return 0 or an errno.
 */
int al_proc_start(char *const *argv, char *const *env, const sigset_t *mask, short flags,
                  const posix_spawn_file_actions_t *actions, pid_t *ret_pid);

/**
 * Run a command with airlock's own streams, directory, session and terminal, and wait
 * for its end.  What it leaves running goes on, but for what is in a sandbox.
 *
 * Signals that somebody sends to this process are sent on; those of the terminal reach the command
 * by themselves.  They stay blocked in the calling thread afterwards, so that the work which
 * follows is done.
 *
 * @param argv           The program, found as a shell does, and its arguments; ended by NULL.
 * @param env            Its environment; NULL: airlock's own.
 * @param git            The program is bubblewrap, and what it starts calls al_handover_enter().
 *                       For each connection this is started, and calls al_handover_take().  NULL:
 *                       it is any program.  A sandbox gets no other descriptors
 *                       than the streams.
 * @param[out] ret_code  As a shell has it: 128 and the signal's number; also with an error: 126, or
 *                       127 when there is no such program.
 * @return 0; AL_ERR_EXECUTION when it cannot be started; AL_ERR_SANDBOX with what bubblewrap says
 *         when it makes no sandbox.
 */
int al_proc_run_foreground(char *const *argv, char *const *env, char *const *git, int *ret_code,
                           struct al_error *err);

#endif
