// SPDX-License-Identifier: Apache-2.0
/*
 * Inside the page of airlock review.
 *
 *   site.c    requests: who may make them, what they are for, and answers in general
 *   keys.c    who may see the page
 *   form.c    fields of a form or a query
 *   visit.c   a request, from its beginning to its end
 *   page.c    HTML (page.h)
 *   web.c     airlock review --web
 */
#ifndef AL_REVIEW_WEB_PRIVATE_H
#define AL_REVIEW_WEB_PRIVATE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/setup.h"
#include "guard/approval.h"
#include "review/web/page.h"
#include "serve/http/server.h"

/* --- keys.c --- */

/*
 * The visitors that may see the page: links that open it once, and the browsers that did.
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

/** Keys that were not used yet, and browsers, together. */
#define AL_WEB_KEYS_MAX 16

/** A key, a cookie or a csrf. */
struct al_web_key {
    char text[AL_WEB_KEY_CHARS + 1];
};

struct al_web_keys;

struct al_web_keys *al_web_keys_new(void);

/** Wipes all of them.  NULL is fine. */
void al_web_keys_free(struct al_web_keys *keys);

/** Make a key for a link. */
void al_web_keys_make(struct al_web_keys *keys, struct al_web_key *ret_key);

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

/** Answer with a page. */
void al_web_answer_page(struct al_http_exchange *exchange, unsigned status,
                        const struct al_str *page);

/** Answer with a page that has one sentence, any text, and a heading after the status; for
 * somebody who may see /review. */
void al_web_answer_message(struct al_http_exchange *exchange, unsigned status,
                           const char *sentence);

/** Send the browser to another page of this server. */
void al_web_answer_elsewhere(struct al_http_exchange *exchange, const char *path);

/* --- visit.c --- */

/*
 * Each request of a browser is served by a thread of its own, from its beginning to its end.  It
 * has a door to the questions and a model of the rest, as a command of airlock review has, and may
 * wait for either; the HTTP thread never waits.
 *
 * An event stream is such a request, which lasts until the browser leaves.
 */

/** Requests at once, but for streams; one more is refused. */
#define AL_VISITS_MAX 64

/** Event streams at once, each with an attached door; one more is refused. */
#define AL_STREAMS_MAX 16

/** Children at once; further requests for one wait for their turn. */
#define AL_VISIT_JOBS_MAX 4

/** The site: what its requests share. */
struct al_site {
    const struct al_setup *setup;
    struct al_strv dirs; /**< of the sockets */
    struct al_web_keys *keys;
    int stop_fd; /**< eventfd(2): readable once the site ends */
    sem_t jobs;  /**< children that may be started */
    pthread_mutex_t lock;
    pthread_cond_t left;      /**< a request has ended */
    size_t nvisits, nstreams; /**< lock */
    bool stops;               /**< lock: requests are refused */
};

/** The purpose of a request. */
enum al_visit_kind {
    AL_VISIT_OVERVIEW,
    AL_VISIT_LIVE,
    AL_VISIT_EVENTS,
    AL_VISIT_QUESTION,
    AL_VISIT_ANSWER,
    AL_VISIT_EXECUTION,
    AL_VISIT_PREVIEW,
    AL_VISIT_ROLL_BACK,
    AL_VISIT_STAGED,
    AL_VISIT_ATTEND, /**< of nobody: calls wait for the site as long as it is there */
    AL_VISIT_STYLE,  /**< never started, as the next one */
    AL_VISIT_SCRIPT,
};

/** A request of a browser that may see the page, on the heap. */
struct al_visit {
    struct al_site *site;
    enum al_visit_kind kind;
    struct al_http_exchange *exchange; /**< a reference */
    struct al_web_key csrf;            /**< of the browser */
    struct al_page_frame frame;        /**< its csrf is that one; it owns the filter */
    char *id;                          /**< of the entry; NULL: none */
    uint64_t newest; /**< what the preview of a rollback was made for; 0: there was none */
    size_t page;     /**< of the text, from 0 */
    enum al_answer decision;
    char *reason; /**< NULL: none */

    /* Private. */
    struct al_review_door *door;
    struct al_model *model;
};

/** Serve a request, which is taken over.  False: too many are served, or the site ends; it is the
 * caller's still. */
bool al_visit_start(struct al_visit *visit);

void al_visit_free(struct al_visit *visit);

#endif
