// SPDX-License-Identifier: Apache-2.0
/*
 * Writes messages as whole lines, in the order they were sent.  No sender ever blocks.
 *
 * - Bytes that the client does not read at once are queued.  The thread that reads the requests
 *   writes them when there is room.
 * - al_message_writer_full() is true while too much is queued, and no more requests are read.
 * - An output that the client closed is dead: queued and later messages are dropped.
 * - SIGPIPE must be ignored.
 *
 * Locking: `lock` guards `queue`, `sent` and `dead`.  The other members never change.
 */
#ifndef AL_BASE_WRITER_H
#define AL_BASE_WRITER_H

#include <pthread.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/sink.h"
#include "base/str.h"

/** No more requests are read while more than this is queued. */
#define AL_MESSAGE_WRITER_FULL_BYTES ((size_t)1024 * 1024)

struct al_message_writer {
    struct al_message_sink sink; /**< every message is a line of the output */
    int fd;                      /**< a write may block only if `poll_first` is set */
    int owned_fd;                /**< `fd` if it was opened here, else -1 */
    int wake_fd;                 /**< eventfd: bytes are queued, or the output became dead */
    bool is_socket;              /**< write with MSG_DONTWAIT */
    bool poll_first;             /**< neither socket nor pipe: ask poll(2) before each write */

    pthread_mutex_t lock;
    struct al_str queue;
    size_t sent; /**< bytes at the front of `queue` that were written */
    bool dead;
};

/** `fd` is borrowed.  Its file status flags stay as they are, because other processes share them.
 * 0 or AL_ERR_EXECUTION. */
int al_message_writer_init(struct al_message_writer *out, int fd, struct al_error *err);
void al_message_writer_clear(struct al_message_writer *out);

/** Send one message; the line end is added here.  Threads: any. */
void al_message_writer_send(struct al_message_writer *out, struct al_str *line);

/** Write as much of the queue as there is room for.  True: bytes are left. */
bool al_message_writer_flush(struct al_message_writer *out);

/** Write the queue, until it is empty or the client has read nothing for `idle_ms`. */
void al_message_writer_drain(struct al_message_writer *out, int idle_ms);

/** Test whether too much is queued for more requests to be read. */
bool al_message_writer_full(struct al_message_writer *out);
/** Test whether the client has closed the output. */
bool al_message_writer_dead(struct al_message_writer *out);

#endif
