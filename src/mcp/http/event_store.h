// SPDX-License-Identifier: Apache-2.0
/*
 * How much the streams of one token keep together (mcp/http/events.h), over all its sessions.
 *
 * Beyond the limit the events of the oldest ended streams are forgotten first.  If that is not
 * enough, the stream that has sent something forgets its oldest ones; its newest one stays.
 *
 * Threads: any.  The lock of a store is the last one to be taken.
 */
#ifndef AL_MCP_HTTP_EVENT_STORE_H
#define AL_MCP_HTTP_EVENT_STORE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "util/str.h"

struct al_stream;

struct al_event_store {
    size_t max_bytes;
    atomic_size_t bytes; /**< that are kept */

    pthread_mutex_t lock;              /**< guards the list */
    struct al_stream *oldest, *newest; /**< ended streams with events; without references */
};

void al_event_store_init(struct al_event_store *store, size_t max_bytes);

/** Only after the last stream was freed. */
void al_event_store_clear(struct al_event_store *store);

/** Keep an event of a stream; it is taken over and empty afterwards.  Caller holds the stream's
 * lock. */
void al_event_store_push(struct al_event_store *store, struct al_stream *stream,
                         struct al_str *event);

/** The stream has ended.  Caller holds its lock. */
void al_event_store_end(struct al_event_store *store, struct al_stream *stream);

/** The stream has no reference any more. */
void al_event_store_remove(struct al_event_store *store, struct al_stream *stream);

/** Keep to the limit, after this stream has sent something.  Caller holds no lock. */
void al_event_store_trim(struct al_event_store *store, struct al_stream *stream);

#endif
