// SPDX-License-Identifier: Apache-2.0
/*
 * Inside the page of airlock review.
 *
 *   site.c    requests: who may make them, what they are for, and answers in general
 *   keys.c    who may see the page
 *   form.c    fields of a form or a query
 *   desk.c    the thread behind the page, which serves the requests
 *   page.c    HTML (page.h)
 *   web.c     airlock review --web
 */
#ifndef AL_REVIEW_WEB_PRIVATE_H
#define AL_REVIEW_WEB_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/setup.h"
#include "guard/approval.h"
#include "serve/http/server.h"

/* --- keys.c --- */

/*
 * Who may see the page: links that open it once, and the browsers that did.
 *
 *   key       128 random bits in a link; the first browser that shows it gets a cookie for it
 *   cookie    128 random bits; whoever has it may see the page
 *   csrf      128 random bits that each form of a browser has; a page of elsewhere cannot know it
 *
 * All live in memory only, and end with the process.  The oldest makes room for one too many.
 * Comparisons take the same time wherever a difference is.
 *
 * Threads: safe.
 */

/** Characters of a key, a cookie and a csrf, all hexadecimal digits. */
#define AL_WEB_KEY_CHARS 32

/** Keys that were not used yet, and browsers, at once. */
#define AL_WEB_KEYS_MAX 16

/** A key, a cookie or a csrf. */
struct al_web_key {
    char text[AL_WEB_KEY_CHARS + 1];
};

struct al_web_keys;

struct al_web_keys *al_web_keys_new(void);

/** Wipes all of them.  NULL is fine. */
void al_web_keys_free(struct al_web_keys *keys);

/** Make a key for a link.  False: getrandom(2) fails. */
bool al_web_keys_make(struct al_web_keys *keys, struct al_web_key *ret_key);

/** Use a key up.  False: it is none, or was used.
 *
 * @param key  Any text; NULL is no key. */
bool al_web_keys_use(struct al_web_keys *keys, const char *key, struct al_web_key *ret_cookie);

/** The csrf of the browser with a cookie.  False: there is none with it.
 *
 * @param cookie  The whole header Cookie of a request; NULL: it has none. */
bool al_web_keys_find(struct al_web_keys *keys, const char *cookie, struct al_web_key *ret_csrf);

/** Test whether a text is this key; NULL is not.  Takes the same time for all of its length. */
bool al_web_key_is(const struct al_web_key *key, const char *text);

/** The name of the cookie. */
#define AL_WEB_COOKIE "airlock-review"

/* --- form.c --- */

/*
 * The fields of a form or a query: application/x-www-form-urlencoded.
 *
 * Threads: any.  Source: URL Standard, 5.1.
 */

/** A longer form is none. */
#define AL_WEB_FORM_MAX_BYTES (64u << 10)

/** The value of the first field with a name; NULL: there is none, or it cannot be decoded.  `text`
 * may be NULL.  Caller frees. */
char *al_web_field(const char *text, const char *name);

/* --- site.c: answers --- */

/** Status codes of RFC 9110. */
enum al_web_status {
    AL_WEB_OK = 200,
    AL_WEB_SEE_OTHER = 303,
    AL_WEB_BAD_REQUEST = 400,
    AL_WEB_FORBIDDEN = 403,
    AL_WEB_NOT_FOUND = 404,
    AL_WEB_METHOD_NOT_ALLOWED = 405,
    AL_WEB_CONFLICT = 409,
    AL_WEB_TOO_LARGE = 413,
    AL_WEB_FAILED = 500,
    AL_WEB_UNAVAILABLE = 503,
};

/** Answer with a page. */
void al_web_answer_page(struct al_http_exchange *exchange, enum al_web_status status,
                        const struct al_str *page);

/** Answer with a page that has one sentence, any text, and a heading after the status; for
 * somebody who may see /review. */
void al_web_answer_message(struct al_http_exchange *exchange, enum al_web_status status,
                           const char *sentence);

/** Send the browser to another page of this server. */
void al_web_answer_elsewhere(struct al_http_exchange *exchange, const char *path);

/* --- desk.c --- */

/*
 * The thread behind the page: it has the door to the questions, the overview of the rest and the
 * children that look up and roll back, and it answers what the HTTP thread puts on its desk.
 *
 * - The HTTP thread never waits.  At most AL_DESK_REQUESTS_MAX requests are served at once, and
 *   AL_DESK_STREAMS_MAX browsers are told about changes.
 * - The door is there as long as `always_attached` says, or a browser is on the event stream, or a
 *   request is served, and AL_DESK_LINGER_MS after it.
 *
 * Threads: al_desk_put() may be called by any thread, the others by one.
 */

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
    AL_DESK_STYLE, /**< never put on the desk, as the next one */
    AL_DESK_SCRIPT,
};

/** A request of a browser that may see the page. */
struct al_desk_request {
    enum al_desk_kind kind;
    struct al_http_exchange *exchange; /**< a reference */
    struct al_web_key csrf;            /**< of the browser */
    char *id;                          /**< of the entry; NULL: none */
    uint64_t newest;                   /**< what the preview of a rollback was made for */
    size_t page;                       /**< of the text, from 0 */
    enum al_answer decision;
    char *reason;       /**< NULL: none */
    const char *notice; /**< for the top of the page, a constant; NULL: none */
    char *filter;       /**< of /review; NULL: none */
    bool only_changes;  /**< of /review */
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

/** Release what a request has. */
void al_desk_request_clear(struct al_desk_request *request);

#endif
