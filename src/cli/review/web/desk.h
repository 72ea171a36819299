// SPDX-License-Identifier: Apache-2.0
/*
 * The thread behind the page: it has the door to the questions, the overview of the rest and the
 * children that look up and roll back, and it answers what the HTTP thread puts on its desk.
 *
 * - The HTTP thread never waits.  At most AL_DESK_REQUESTS_MAX requests are served at once, and
 *   AL_DESK_STREAMS_MAX browsers are told about changes.
 * - The door is there as long as `always_attached` says, or a browser is on the event stream, or a
 *   request is served, and AL_DESK_LINGER_MS after it.
 *
 * Threads: al_desk_put() and al_desk_gone() may be called by any thread, the others by one.
 */
#ifndef AL_CLI_REVIEW_WEB_DESK_H
#define AL_CLI_REVIEW_WEB_DESK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/review/web/keys.h"
#include "cli/setup.h"
#include "guard/rules/approval.h"
#include "http/server.h"
#include "util/error.h"
#include "util/str.h"

/** Requests at once; one more is refused. */
#define AL_DESK_REQUESTS_MAX 64

/** Event streams at once; one more is refused. */
#define AL_DESK_STREAMS_MAX 32

/** Children at once; further requests for one wait for their turn. */
#define AL_DESK_JOBS_MAX 4

/** How long the door stays after the last request, in milliseconds: a page that loads itself again
 * finds the text that it asked for. */
#define AL_DESK_LINGER_MS 5000

/** What a request is for. */
enum al_desk_kind {
    AL_DESK_OVERVIEW,
    AL_DESK_LIVE,
    AL_DESK_EVENTS,
    AL_DESK_QUESTION,
    AL_DESK_ANSWER,
    AL_DESK_EXECUTION,
    AL_DESK_PREVIEW,
    AL_DESK_ROLL_BACK,
    AL_DESK_STAGED,
};

/** A request of a browser that may see the page. */
struct al_desk_request {
    enum al_desk_kind kind;
    struct al_http_exchange *exchange; /**< a reference */
    struct al_web_key csrf;            /**< of the browser */
    char *id;                          /**< of the question or the staged commit; NULL: none */
    uint64_t seq, newest;              /**< the execution, and what its preview was made for */
    size_t page;                       /**< of the text, from 0 */
    enum al_answer decision;
    char *reason;       /**< NULL: none */
    const char *notice; /**< for the top of the page, a constant; NULL: none */
};

struct al_desk;

/**
 * Start the thread.
 *
 * @param setup  After al_setup_config(), in a process that has called al_proc_init().  Borrowed.
 * @param dirs   Of the sockets; copied.
 */
int al_desk_new(const struct al_setup *setup, const struct al_strv *dirs, bool always_attached,
                struct al_desk **ret_desk, struct al_error *err);

/** Answer everything, end the streams and the thread.  A rollback that runs is waited for.  What is
 * put on the desk later is refused. */
void al_desk_stop(struct al_desk *desk);

/** After al_desk_stop(), when nobody calls any more.  NULL is fine. */
void al_desk_free(struct al_desk *desk);

/** Take a request over with all it has.  False: too many are served, or the desk has stopped;
 * the request is the caller's still. */
bool al_desk_put(struct al_desk *desk, const struct al_desk_request *request);

/** The client of an exchange has gone, or has its answer. */
void al_desk_gone(struct al_desk *desk, struct al_http_exchange *exchange);

/** Release what a request has. */
void al_desk_request_clear(struct al_desk_request *request);

#endif
