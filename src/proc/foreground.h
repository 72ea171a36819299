// SPDX-License-Identifier: Apache-2.0
/* A command of the user's own, in the place where airlock itself was started: unconfined, or in a
 * sandbox whose git it runs. */
#ifndef AL_PROC_FOREGROUND_H
#define AL_PROC_FOREGROUND_H

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

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
 * Run a command with airlock's own streams, directory, session and terminal, and wait for its end.
 * Processes that it leaves running go on, but for those in a sandbox.
 *
 * Signals that somebody sends to this process are sent on; those of the terminal reach the command
 * by themselves.  They stay blocked in the calling thread afterwards, so that the work which
 * follows is done.
 *
 * @param argv           The program, found as a shell does, and its arguments; ended by NULL.
 * @param env            Its environment; NULL: airlock's own.
 * @param git            The program is bubblewrap, and what it starts calls al_handover_enter().
 *                       This is started for each connection, and calls al_handover_take().
 *                       NULL: it is any program.  A sandbox gets no other descriptors than the
 *                       streams.
 * @param[out] ret_code  As a shell has it: 128 and the signal's number; also with an error: 126, or
 *                       127 when there is no such program.
 * @return 0; AL_ERR_EXECUTION when it cannot be started; AL_ERR_SANDBOX with what bubblewrap says
 *         when it makes no sandbox.
 */
int al_proc_run_foreground(char *const *argv, char *const *env, char *const *git, int *ret_code,
                           struct al_error *err);

/* --- Handover --- */

/*
 * The way of `git` inside of a sandbox to the airlock outside that started it.
 *
 *   outside, foreground.c        starts bubblewrap, with one end of a pair of sockets
 *   inside, al_handover_enter()  makes a socket in a directory of the sandbox, hands the listening
 *                                end out, gives up what it still may do, becomes the command
 *   inside, al_handover_git()    sends working directory, words and streams of one git
 *   outside, foreground.c        starts a process with each connection
 *   outside, al_handover_take()  receives them there; the exit code goes back
 *
 * The command may say whatever it likes on the socket, so nothing of it is trusted: the streams are
 * what the sandbox could use itself, directory and words are checked by whoever takes them, with
 * the environment of the one outside.
 */

/** A directory of the sandbox alone, which is there before al_handover_enter(). */
#define AL_HANDOVER_DIR "/run/airlock-confined"

/** Set for the first program in the sandbox, which is airlock. */
#define AL_HANDOVER_FIRST "AIRLOCK_FIRST"

/** The descriptors that a process begins with in both places: its end of the pair, or its
 * connection; and inside the error stream, since what bubblewrap says is for the one outside. */
#define AL_HANDOVER_FD       10
#define AL_HANDOVER_ERROR_FD 11

/**
 * Become the command.
 *
 * @param is_first  It is the first process of the sandbox, and confines itself.
 * @return only on failure: 126, or 127 when there is no such program, as a shell has it.
 */
int al_handover_enter(char *const *argv, bool is_first, struct al_error *err);

/** Hand out the words of one git, and wait for its end.  Returns the exit code, or
 * AL_ERR_EXECUTION when nobody answers. */
int al_handover_git(char *const *words, struct al_error *err);

/**
 * Receive a request, and take its streams for those of this process, which gets SIGTERM when nobody
 * waits for the answer any more.
 *
 * No link below the root is followed from then on: the command may put one anywhere while git
 * writes, and git may write to its own directory, where hooks and configuration are.
 *
 * @param root             A mount of this process alone.
 * @param[out] ret_words  The working directory, and git's words.
 * @return 0, or -1: it is none.
 */
int al_handover_take(const char *root, struct al_strv *ret_words);

/** Send the exit code. */
void al_handover_answer(int code);

#endif
