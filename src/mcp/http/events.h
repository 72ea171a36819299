// SPDX-License-Identifier: Apache-2.0
/*
 * What a stream of server-sent events has sent, so that a client whose connection broke can have it
 * again.  Bounded: the oldest events are forgotten first.
 *
 * Events of a stream are numbered from 1.  Threads: the owner locks.
 *
 * Source: HTML, "Server-sent events".
 */
#ifndef AL_MCP_HTTP_EVENTS_H
#define AL_MCP_HTTP_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/str.h"
#include <pthread.h>
#include <stdatomic.h>

struct al_stream;

struct al_event_store {
    size_t max_bytes;
    atomic_size_t bytes; /**< that are kept */

    pthread_mutex_t lock;              /**< guards the list */
    struct al_stream *oldest, *newest; /**< ended streams with events; without references */
};

/** Events that are kept, and their bytes.  The newest one is kept whatever its size. */
#define AL_EVENTS_MAX       64
#define AL_EVENTS_MAX_BYTES ((size_t)1024 * 1024)

struct al_events {
    struct al_str items[AL_EVENTS_MAX]; /**< a ring: event `n` is at `n % AL_EVENTS_MAX` */
    unsigned long last;                 /**< the newest event; 0: none was sent */
    size_t count;                       /**< of those that are kept */
    size_t bytes;
};

/** Append the text of an event with one message, which has no newline.  `id` may be NULL. */
void al_event_add_text(struct al_str *out, const char *id, const char *message, size_t len);

/** The id of an event: "STREAM-EVENT".  Caller frees. */
char *al_event_make_id(unsigned long stream, unsigned long event);

/** Read such an id.  False: it is none. */
bool al_event_read_id(const char *id, unsigned long *ret_stream, unsigned long *ret_event);

/** Append an event without a message, whose id a client can resume from when it gets no other. */
void al_event_add_first(struct al_str *out, const char *id);

void al_events_clear(struct al_events *events);

/** Keep the event that comes next; it is taken over and empty afterwards. */
void al_events_push(struct al_events *events, struct al_str *event);

/** Forget the oldest one.  There is one. */
void al_events_forget_oldest(struct al_events *events);

/** Test whether every event behind this one is kept. */
bool al_events_has_after(const struct al_events *events, unsigned long number);

/** An event that al_events_has_after() the one before it says is kept. */
const struct al_str *al_events_get(const struct al_events *events, unsigned long number);

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
