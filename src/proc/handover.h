// SPDX-License-Identifier: Apache-2.0
/*
 * How `git` inside of a sandbox reaches the airlock outside that started it.
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
#ifndef AL_PROC_HANDOVER_H
#define AL_PROC_HANDOVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

/** A directory of the sandbox alone, which is there before al_handover_enter(). */
#define AL_HANDOVER_DIR "/run/airlock-confined"

/** Set for the first program in the sandbox, which is airlock. */
#define AL_HANDOVER_FIRST "AIRLOCK_FIRST"

/** What a process begins with in both places: its end of the pair, or its connection; and inside
 * the error stream, since what bubblewrap says is for the one outside. */
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

/** Receive what al_handover_enter() hands out, with its process, and let it go on once `known` is
 * true of that.  0, or -1 when nothing comes. */
int al_handover_greet(int pair_fd, bool (*known)(void *payload, pid_t process), void *payload,
                      int *ret_listen_fd);

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
