// SPDX-License-Identifier: Apache-2.0
/*
 * The link to one running process of an upstream server: its streams, and the requests that airlock
 * makes by itself.  Only the server's thread uses it.
 */
#ifndef AL_UPSTREAM_LINK_H
#define AL_UPSTREAM_LINK_H

#include "proc/running.h"
#include "upstream/state.h"
#include "wire/reader.h"

/** A request of the link's own.  On the stack of the function that waits for it. */
struct al_upstream_request {
    struct al_upstream_request *next;
    unsigned long id;
    bool is_large; /**< the answer may be too large */
    bool done;
    json_t *result; /**< NULL with `done`: the server answered with an error */
    size_t bytes;   /**< of the answer */
    int code;       /**< of the error */
    json_t *data;   /**< of the error; NULL: none */
    char *message;  /**< of the error, one safe line */
};

#define AL_UPSTREAM_REQUEST_INIT ((struct al_upstream_request){ .next = NULL })

struct al_upstream_link {
    struct al_upstream *server;
    struct al_running *process;
    struct al_reader reader;
    int err_fd; /**< standard error; -1 once it ended */
    struct al_str err_line;
    char *last_error;   /**< the last line of standard error, safe; NULL: none */
    char *garbage;      /**< the first line that was no message, safe; NULL: none */
    bool has_ended;     /**< the process has */
    const char *broken; /**< why the link has to end, as a phrase; NULL: it need not */

    const struct al_revision *revision; /**< NULL before the handshake */
    struct al_upstream_request *requests;
    unsigned long listen_id; /**< of subscriptions/listen; 0: none */
    bool has_tools;          /**< by its capabilities */
    bool list_changed;
    unsigned nuseless; /**< messages that nobody asked for, in the current period */
    int64_t useless_since_ms;
    size_t nerrors;          /**< bytes of standard error that were read in the current period */
    int64_t errors_until_ms; /**< the end of that period */
};

/** Start the process.  0, and then al_upstream_link_close() is due; or why it could not be started.
 */
int al_upstream_link_open(struct al_upstream *server, struct al_upstream_link *link,
                          struct al_error *err);

/**
 * End the process, and free the link.  `gently`: its input is closed first, and it is given time.
 * *ret_end says how it ended, as a phrase, with the last line of its standard error.  Caller frees.
 */
void al_upstream_link_close(struct al_upstream_link *link, bool gently, char **ret_end);

/**
 * Handle what has come, or wait for it once.
 *
 * @return 0, also when the deadline has passed; AL_ERR_CANCELLED when the server is to be ended;
 *         AL_ERR_EXECUTION when the process has ended (`has_ended`) or the link is `broken`.
 */
int al_upstream_link_wait(struct al_upstream_link *link, int64_t deadline_ms);

/** Send a request of the link's own, for al_upstream_link_forget().  `params` as from
 * al_upstream_params(). */
void al_upstream_link_ask(struct al_upstream_link *link, struct al_upstream_request *request,
                          const char *method, const json_t *params);
/** Wait until one of two requests is answered; `b` may be NULL.  As al_upstream_link_wait(), and
 * AL_ERR_TIMEOUT. */
int al_upstream_link_await(struct al_upstream_link *link, const struct al_upstream_request *a,
                           const struct al_upstream_request *b, int64_t deadline_ms);

/** AL_ERR_TIMEOUT with the phrase that a request was not answered. */
int al_upstream_link_late(struct al_upstream_link *link, const char *method, char **ret_problem);

/** Forget a request, answered or not. */
void al_upstream_link_forget(struct al_upstream_link *link, struct al_upstream_request *request);

/** Send a notification without parameters. */
void al_upstream_link_notify(struct al_upstream_link *link, const char *method);

/** Handle one line of the server's. */
void al_upstream_take_line(struct al_upstream_link *link, const char *line, size_t len);

/** Handle a line that is too large to be parsed, or its beginning: the call that waits for it fails
 * with `problem`, a noun phrase. */
void al_upstream_take_unreadable(struct al_upstream_link *link, const char *line, size_t len,
                                 const char *problem);

/** Agree on a revision.  0; or as al_upstream_link_wait(), and AL_ERR_TIMEOUT, with a phrase in
 * *ret_problem (NULL: how the process ended says it all).  Caller frees. */
int al_upstream_shake_hands(struct al_upstream_link *link, int64_t deadline_ms, char **ret_problem);

/** Read the list of tools and make it the server's.  *ret_differs: it is another one.  Returns
 * as al_upstream_shake_hands(). */
int al_upstream_read_tools(struct al_upstream_link *link, int64_t deadline_ms, bool *ret_differs,
                           char **ret_problem);

#endif
