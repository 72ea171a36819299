// SPDX-License-Identifier: Apache-2.0
/*
 * Messages going out: whole lines in the order they were sent, and no sender ever blocks.
 *
 * What the other side does not take at once waits in a queue, which a pump (mcp/flusher.h) empties
 * when there is room.  When too much waits, al_message_writer_full() tells the reader to take no
 * more requests. SIGPIPE must be ignored: a closed pipe makes the output dead, and what is sent
 * then is dropped.
 */
#ifndef AL_MCP_WRITER_H
#define AL_MCP_WRITER_H

#include <pthread.h>
#include <stdbool.h>

#include "util/error.h"
#include "util/str.h"

/** With more than this in the queue no more requests are read. */
#define AL_MESSAGE_WRITER_FULL_BYTES ((size_t)1024 * 1024)

struct al_message_writer {
    int fd;       /**< writing to it blocks at most where `poll_first` is set */
    int owned_fd; /**< `fd` when it was opened here, else -1 */
    int wake_fd;  /**< eventfd: something for the pump to do */
    int event_fd; /**< eventfd: dead, or no longer full */
    bool is_socket;
    bool poll_first;
    bool may_grow; /**< a pipe that is still of the usual size */

    pthread_mutex_t lock;
    struct al_str queue;
    size_t sent; /**< bytes at the front of `queue` that are gone */
    bool dead;
};

/** `fd` is borrowed, and its flags, which other processes share, stay as they are; a pipe of the
 * usual size is made larger by the first answer that does not fit. */
int al_message_writer_init(struct al_message_writer *out, int fd, struct al_error *err);
void al_message_writer_clear(struct al_message_writer *out);

/** Send one message; its line end is added here.  Threads: any. */
void al_message_writer_send(struct al_message_writer *out, struct al_str *line);

/** Write what waits, as far as there is room; true when more is left. */
bool al_message_writer_flush(struct al_message_writer *out);

/** Write what waits, until the reader has taken nothing of it for `idle_ms`. */
void al_message_writer_drain(struct al_message_writer *out, int idle_ms);

/** Whether too much waits for new work to be taken on, and whether nobody reads any more. */
bool al_message_writer_full(struct al_message_writer *out);
bool al_message_writer_dead(struct al_message_writer *out);

/** Wake the pump. */
void al_message_writer_wake(struct al_message_writer *out);

#endif
