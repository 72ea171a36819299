// SPDX-License-Identifier: Apache-2.0
/* What the files of the desk share; see desk.h.  All of it belongs to the desk's thread, but for
 * the members under "lock". */
#ifndef AL_CLI_REVIEW_WEB_DESK_PRIVATE_H
#define AL_CLI_REVIEW_WEB_DESK_PRIVATE_H

#include <pthread.h>

#include "cli/review/job.h"
#include "cli/review/overview.h"
#include "cli/review/web/desk.h"
#include "review/door.h"

/** A request that is served. */
struct al_desk_work {
    struct al_desk_work *next;
    struct al_desk_request request;
    int64_t begun_ms;          /**< of al_clock_ms() */
    uint64_t ticket;           /**< of the answer; 0: none was sent */
    struct al_review_job *job; /**< NULL: none runs */
    uint64_t newest;           /**< what the job's preview is made for */
    bool asked;                /**< the text was asked for */
    bool gone;                 /**< nobody waits for the answer */
    bool done;
};

struct al_desk {
    const struct al_setup *setup;
    struct al_strv dirs;
    bool always_attached;
    pthread_t thread;
    int wake_fd; /**< eventfd(2) */

    pthread_mutex_t lock;
    struct al_desk_work *inbox; /* lock: newest first */
    /** lock: those that al_desk_gone() named; references, so that no new exchange has the address
     * of one of them. */
    struct al_http_exchange **ended;
    size_t nended, ended_capacity; /* lock */
    size_t count;                  /* lock: requests in the inbox and at work */
    bool stops;                    /* lock */

    struct al_review_door *door; /**< NULL: nobody looks */
    struct al_overview_source *overview;
    struct al_desk_work *work; /**< oldest first */
    struct al_http_exchange *streams[AL_DESK_STREAMS_MAX];
    size_t nstreams, njobs;
    int64_t used_ms; /**< when a request was served last */
    uint64_t version;
};

/** The longest time that a page waits for processes that do not say what waits, and for a text. */
#define AL_DESK_PATIENCE_MS 2000

/** Serve a request as far as that is possible now; `done` says whether it has its answer. */
void al_desk_serve(struct al_desk *desk, struct al_desk_work *work);

/** What came of an answer. */
void al_desk_take_reply(struct al_desk *desk, const struct al_review_reply *reply);

/** Begin an event stream. */
void al_desk_add_stream(struct al_desk *desk, struct al_desk_work *work);

#endif
