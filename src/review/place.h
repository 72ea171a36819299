// SPDX-License-Identifier: Apache-2.0
/*
 * The place of the sockets: DIR/<pid>.sock, for each process that may have questions.
 *
 *   DIR      mode 0700, of this user, no link; no root contains it
 *   socket   mode 0600
 *
 * - A socket whose process is gone is replaced by a process with its number, and removed by whoever
 *   comes upon it.
 * - A review that attaches to every process, also to those that begin later, locks the file
 *   DIR/review.lock (F_OFD_SETLK) as long as it lives.  The file stays.
 * - Sockets are bound and connected beneath the descriptor of DIR, so its path may have any length.
 *
 * Source: unix(7), fcntl(2).
 */
#ifndef AL_REVIEW_PLACE_H
#define AL_REVIEW_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

/**
 * Open the directory of the sockets.
 *
 * @param create  Make it if it is missing; its parent is made too with `parents`.
 * @return 0; AL_ERR_NOT_FOUND when there is none, or it cannot be made; AL_ERR_EXECUTION when it is
 *         not safe to use.
 */
int al_review_place_open(const char *dir, bool create, bool parents, int *ret_fd,
                         struct al_error *err);

/** Listen on the socket of this process.  The caller closes it and calls al_review_place_remove().
 */
int al_review_place_listen(int dir_fd, int *ret_fd, struct al_error *err);

/** Remove the socket of this process, and those whose process is gone. */
void al_review_place_remove(int dir_fd);

/** Connect to the socket of a process of this user.  A descriptor that does not block, or -errno:
 * -ECONNREFUSED when the process is gone; the socket is then removed. */
int al_review_place_connect(int dir_fd, pid_t pid);

/** Test whether a review lives that will attach to a process that begins now. */
bool al_review_place_is_attended(int dir_fd);

/** Say that a review lives that attaches to every process, until the caller closes the descriptor.
 * Returns it, or -errno. */
int al_review_place_attend(int dir_fd);

/** The process that a name in the directory belongs to; 0: none. */
pid_t al_review_place_owner(const char *name);

#endif
