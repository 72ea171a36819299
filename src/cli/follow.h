// SPDX-License-Identifier: Apache-2.0
/* Waiting for the journal to grow. */
#ifndef AL_CLI_FOLLOW_H
#define AL_CLI_FOLLOW_H

/** Watch the directory of `file` from now on.  A descriptor, or -errno (-ENOENT: no directory). */
int al_follow_watch(const char *file);

/** Shows what there is more; 0, or -errno to end. */
typedef int al_follow_fn(void *payload);

/**
 * Call `more`, and again whenever something happens in the directory, until SIGINT, SIGTERM or the
 * end of whoever reads the standard output.  0, or what `more` gave.
 */
int al_follow(int watch_fd, al_follow_fn *more, void *payload);

#endif
