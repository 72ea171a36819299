// SPDX-License-Identifier: Apache-2.0
/* Waiting for the journal to grow. */
#ifndef AL_CLI_HISTORY_FOLLOW_H
#define AL_CLI_HISTORY_FOLLOW_H

/** Begin to watch the directory of `file`.  Returns an inotify descriptor, or -errno (-ENOENT:
 * there is no such directory). */
int al_follow_watch(const char *file);

/** Shows the new lines.  Returns 0, or -errno to stop. */
typedef int al_follow_fn(void *payload);

/** Call `more` now and after each change in the directory, until SIGINT, SIGTERM or until the
 * reader of stdout is gone.  Returns 0, the error of `more`, or -errno. */
int al_follow(int watch_fd, al_follow_fn *more, void *payload);

#endif
