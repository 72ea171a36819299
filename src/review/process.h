// SPDX-License-Identifier: Apache-2.0
/* One process that a door is attached to: its connection, without what the lines mean. */
#ifndef AL_REVIEW_PROCESS_H
#define AL_REVIEW_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/json.h"
#include "util/str.h"

/** What waits to be sent to a process, in bytes; one that takes less gets no further request. */
#define AL_REVIEW_REQUESTS_MAX_BYTES (256u << 10)

/** A process with a socket.  Set up by al_review_process_new(). */
struct al_review_process {
    struct al_review_process *next;
    pid_t pid;
    size_t dir; /**< index of the directory that its socket is in */
    int fd;     /**< does not block; -1: not connected */
    struct al_str in, out;
    size_t nsent;     /**< of `out` */
    size_t nsearched; /**< of `in`: no line ends there */
    bool listed;      /**< it has said what waits since it was connected to */
    bool exists;      /**< its socket was there when the directory was last looked at */
    int64_t due_ms; /**< connected and not `listed`: the answer has to be there; not connected: the
                         next attempt */
    unsigned attempts; /**< to connect, that failed or came to an end */
    char *problem;     /**< why it was let go, one safe line; NULL: it was not */
};

struct al_review_process *al_review_process_new(pid_t pid, size_t dir);

/** Without its connection. */
void al_review_process_free(struct al_review_process *process);

/** Forget what was sent and received, for another connection or none.  Does not close it. */
void al_review_process_reset(struct al_review_process *process);

/** Add a request.  False: too many wait. */
bool al_review_process_send(struct al_review_process *process, const struct al_str *request);

/** Write what the process takes, and read once.  False: it has closed the connection. */
bool al_review_process_run(struct al_review_process *process);

/** Take the next complete line.  A line that is no object is NULL.  False: none is complete.
 *
 * @param at  Where the next line begins, 0 at first; pass the last one to
 *            al_review_process_taken(). */
bool al_review_process_line(struct al_review_process *process, size_t *at, json_t **ret_line);

/** Forget the lines before `at`. */
void al_review_process_taken(struct al_review_process *process, size_t at);

#endif
