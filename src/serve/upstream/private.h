// SPDX-License-Identifier: Apache-2.0
/*
 * The parts that the files of the room share.
 *
 *   life.c      from start to end: the process, the handshake, the thread; answers to whom it asks
 *   call.c      what the server says, and what it is told; threads that wait for it: calls, and the
 *               list of tools
 *   tools.c     the list of tools
 *   profile.c   program, environment, confinement
 *
 * Of a server
 *
 *   settings and what they point to   constant
 *   wake_fd                           eventfd, never read: readable from al_upstream_end() on
 *   skips_probe                       the server's thread only
 *   all others                        guarded by `lock`, which is never held while anything blocks
 *
 * and all of a link belongs to the server's thread.
 */
#ifndef AL_SERVE_UPSTREAM_PRIVATE_H
#define AL_SERVE_UPSTREAM_PRIVATE_H

#include <pthread.h>
#include <stddef.h>

#include "base/jsonrpc.h"
#include "base/reader.h"
#include "base/writer.h"
#include "proc/proc.h"
#include "proc/spawn.h"
#include "serve/upstream/upstream.h"

/* --- Limits: what airlock takes from a server.  A line and the values in it are bounded as for
 * clients (base/reader.h, base/jsonrpc.h). --- */

/** Tools of one server; the rest are left out. */
#ifndef AL_UPSTREAM_TOOLS_MAX
#define AL_UPSTREAM_TOOLS_MAX 1000u
#endif

/** Pages and bytes of one tools/list; a longer list is an error. */
#define AL_UPSTREAM_PAGES_MAX 200u
#ifndef AL_UPSTREAM_LIST_MAX_BYTES
#define AL_UPSTREAM_LIST_MAX_BYTES (16u * 1024u * 1024u)
#endif

/** Bytes of a tool's name: the limit of MCP. */
#define AL_UPSTREAM_NAME_MAX_BYTES 128u

/** Bytes of a title and of a description, which are cut. */
#define AL_UPSTREAM_TITLE_MAX_BYTES       256u
#define AL_UPSTREAM_DESCRIPTION_MAX_BYTES 4096u

/** Bytes and levels of brackets of a schema or of annotations. */
#define AL_UPSTREAM_SCHEMA_MAX_BYTES (64u * 1024u)
#define AL_UPSTREAM_SCHEMA_MAX_DEPTH 32

/** Levels of brackets in a result or a question: a thread that runs a call has a small stack. */
#define AL_UPSTREAM_RESULT_MAX_DEPTH 64

/** Calls of one server in flight. */
#define AL_UPSTREAM_CALLS_MAX 128u

/** Questions of one call that wait, and rounds of questions in results. */
#define AL_UPSTREAM_QUESTIONS_MAX 16u
#define AL_UPSTREAM_ROUNDS_MAX    8u

/** Messages within a period that nobody asked for: notifications, requests, answers to nothing,
 * lines that are no message.  A server that sends more is ended. */
#define AL_UPSTREAM_USELESS_MAX       100000u
#define AL_UPSTREAM_USELESS_PERIOD_MS 60000

/** Bytes of standard error that are read within a period.  A server that writes more waits for the
 * next one. */
#ifndef AL_UPSTREAM_ERRORS_MAX_BYTES
#define AL_UPSTREAM_ERRORS_MAX_BYTES (1024u * 1024u)
#define AL_UPSTREAM_ERRORS_PERIOD_MS 1000
#endif

/** Bytes of a text of the server's inside a message of airlock's. */
#define AL_UPSTREAM_QUOTED_MAX_BYTES 300u

/** The answer to server/discover is awaited this long before initialize is sent too: a server of
 * the older era may not answer what it does not know. */
#ifndef AL_UPSTREAM_PROBE_MS
#define AL_UPSTREAM_PROBE_MS 1000
#endif

/** The least time between two readings of the list of tools. */
#ifndef AL_UPSTREAM_RELIST_MS
#define AL_UPSTREAM_RELIST_MS 1000
#endif

/** The time from the end of its input until a server gets SIGTERM, and from there to SIGKILL. */
#ifndef AL_UPSTREAM_EOF_MS
#define AL_UPSTREAM_EOF_MS 500
#endif
#define AL_UPSTREAM_TERM_MS 500

/** The time from the end of its output until a process has to have ended. */
#ifndef AL_UPSTREAM_EXIT_MS
#define AL_UPSTREAM_EXIT_MS 2000
#endif

/** The time to read what the pipes of a process that has ended still hold. */
#define AL_UPSTREAM_REST_MS 1000

/** The wait before a server is started again: doubled up to the second value with each failure. */
#ifndef AL_UPSTREAM_BACKOFF_FIRST_MS
#define AL_UPSTREAM_BACKOFF_FIRST_MS 1000
#endif
#define AL_UPSTREAM_BACKOFF_MAX_MS 60000

/** A call waits for a server that is started again within this time. */
#define AL_UPSTREAM_PATIENCE_MS 4000

/* --- life.c --- */

/** A question of the server that waits for the thread of a call. */
struct al_upstream_question {
    struct al_upstream_question *next;
    char *id; /**< canonical JSON text */
    const char *method;
    json_t *params;
};

/** A thread that waits for the server, in a call or for the list of tools; or a request of the
 * server's own thread, which al_upstream_link_ask() sends. */
struct al_upstream_wait {
    struct al_upstream_wait *next;
    int event_fd;       /**< readable after every change; -1: the server's own thread waits */
    unsigned nfailures; /**< of the server when the wait began */
    unsigned long id;   /**< of the request in flight; 0: none is */
    bool asks;          /**< the call takes questions */
    bool is_own;        /**< a request of the server's own thread */
    bool is_large;      /**< of its own: the answer may be too large */

    bool answered;
    json_t *result; /**< NULL with `answered`: `failure` says why */
    size_t bytes;   /**< of the answer */
    struct al_error failure;
    int code;      /**< of the error in the answer */
    json_t *data;  /**< of it; NULL: none */
    char *message; /**< of it, one safe line; NULL: there is none */
    bool has_progress;
    struct al_upstream_progress progress; /**< the newest; owns its message */
    struct al_upstream_question *questions;
    size_t nquestions;
    const char *asking_id;    /**< the question that is being asked; NULL: none */
    struct al_cancel *asking; /**< fired when its answer is no longer wanted */
};

#define AL_UPSTREAM_WAIT_INIT                                                                      \
    ((struct al_upstream_wait){ .event_fd = -1, .failure = AL_ERROR_INIT })

/** The tools of a server. */
struct al_upstream_list {
    json_t *tools; /**< an array; NULL: none was read yet */
    size_t nleft_out;
    char *left_out; /**< why the first tool was left out, one line; NULL: none was */
};

#define AL_UPSTREAM_LIST_INIT ((struct al_upstream_list){ .tools = NULL })

struct al_upstream {
    struct al_upstream_settings settings;
    int wake_fd;
    bool skips_probe; /**< the server ended when it was asked for its revisions */

    pthread_mutex_t lock;
    pthread_t thread;
    bool has_thread, ending;
    enum al_upstream_phase phase;
    struct al_upstream_wait *waits;
    unsigned long last_id;
    struct al_message_writer out;
    bool is_open;      /**< `out` may be used */
    int in_fd;         /**< with is_open: what `out` writes to */
    bool has_answered; /**< a call, since it was started */
    bool was_ready;    /**< since it was started */
    bool warned;       /**< that it is not confined */

    const struct al_revision *revision;
    struct al_upstream_list list;
    bool list_is_old; /**< it has changed, says the server, and was not read again yet */
    char *program;
    struct al_error problem; /**< why it is not ready; no status: it is */
    unsigned nstarts;
    unsigned nfailures; /**< starts that came to nothing */
    unsigned streak;    /**< failures in a row */
    int64_t next_start_ms;
};

struct al_upstream_link {
    struct al_upstream *server;
    struct al_spawned *process;
    struct al_reader reader;
    struct al_reader errors; /**< standard error */
    char *last_error;        /**< the last line of standard error, safe; NULL: none */
    char *garbage;           /**< the first line that was no message, safe; NULL: none */
    bool has_ended;          /**< the process has */
    const char *broken;      /**< why the link has to end, as a phrase; NULL: it need not */

    const struct al_revision *revision; /**< NULL before the handshake */
    unsigned long listen_id;            /**< of subscriptions/listen; 0: none */
    bool has_tools;                     /**< by its capabilities */
    bool list_changed;
    unsigned nuseless; /**< messages that nobody asked for, in the current period */
    int64_t useless_since_ms;
    size_t nerrors;          /**< bytes of standard error that were read in the current period */
    int64_t errors_until_ms; /**< the end of that period */
};

/** Send a request of the link's own, for al_upstream_wait_end().  `params` are without `_meta`, and
 * are taken over. */
void al_upstream_link_ask(struct al_upstream_link *link, struct al_upstream_wait *request,
                          const struct al_revision *revision, const char *method, json_t *params);

/** Wait until one of two requests is answered; `b` may be NULL.  0; AL_ERR_TIMEOUT;
 * AL_ERR_CANCELLED when the server is to be ended; AL_ERR_EXECUTION when the process has ended
 * (`has_ended`) or the link is `broken`. */
int al_upstream_link_await(struct al_upstream_link *link, const struct al_upstream_wait *a,
                           const struct al_upstream_wait *b, int64_t deadline_ms);

/** AL_ERR_TIMEOUT with the phrase that a request was not answered. */
int al_upstream_link_late(struct al_upstream_link *link, const char *method, char **ret_problem);

/** The time until then for poll(2); INT64_MAX: without end. */
int al_upstream_left_ms(int64_t deadline_ms);

/** The wait before the next start, after so many failures in a row. */
int64_t al_upstream_backoff_ms(unsigned streak);

/* --- call.c --- */

/** Handle one line of the server's. */
void al_upstream_take_line(struct al_upstream_link *link, const char *line, size_t len);

/** Handle a line that is too large to be parsed, or its beginning: the call that waits for it fails
 * with `problem`, a noun phrase. */
void al_upstream_take_unreadable(struct al_upstream_link *link, const char *line, size_t len,
                                 const char *problem);

/** Caller holds the lock.  Make every waiting thread look at the state again. */
void al_upstream_signal_all(struct al_upstream *server);
/** Caller holds the lock.  Make one waiting thread look again. */
void al_upstream_signal(struct al_upstream_wait *wait);

/** Caller holds the lock.  The request in flight has its end; `wait` has the result or failure. */
void al_upstream_answer(struct al_upstream_wait *wait);

/** Caller holds the lock.  Send one line; false: the server takes nothing more. */
bool al_upstream_send(struct al_upstream *server, struct al_str *line);

/** Set `_meta` of the params of a request: what a modern server needs, and a progress token unless
 * `token` is 0.  `revision` is NULL before the handshake. */
void al_upstream_set_meta(const struct al_upstream *server, const struct al_revision *revision,
                          json_t *params, unsigned long token, bool asks);

/** Append a request. */
void al_upstream_add_request(struct al_str *line, unsigned long id, const char *method,
                             const json_t *params);

/** The capabilities that the client has, as far as it can be asked.  Caller owns the reference. */
json_t *al_upstream_capabilities(const struct al_upstream *server, bool asks);

/** airlock, as clientInfo.  Caller owns the reference. */
json_t *al_upstream_client_info(void);

/** Register a wait; al_upstream_wait_end() is due.  0 or AL_ERR_EXECUTION. */
int al_upstream_wait_begin(struct al_upstream *server, struct al_upstream_wait *wait,
                           struct al_error *err);

/** Remove a wait, which need not have begun, and tell the server to cancel the request that is
 * still in flight; with `reason` NULL it is told nothing. */
void al_upstream_wait_end(struct al_upstream *server, struct al_upstream_wait *wait,
                          const char *reason);

/**
 * Wait until the server is ready, also for one that has failed before the wait began and is started
 * again soon.
 *
 * @return 0; AL_ERR_EXECUTION or AL_ERR_SANDBOX: why it could not start, or that it has ended;
 *         AL_ERR_TIMEOUT; AL_ERR_CANCELLED.
 */
int al_upstream_wait_ready(struct al_upstream *server, const struct al_upstream_wait *wait,
                           struct al_cancel *cancel, int64_t deadline_ms, struct al_error *err);

/* --- tools.c --- */

void al_upstream_list_clear(struct al_upstream_list *list);

/** Add the tools of one page, and leave out those that cannot be offered.  The texts inside the
 * page's schemas are made safe.  False: the result is no page of tools. */
bool al_upstream_list_add(struct al_upstream_list *list, json_t *result);

/** A text as one safe line of at most `max_bytes`, cut with "..."; NULL for NULL and for blank
 * text. Caller frees. */
char *al_upstream_line(const char *text, size_t max_bytes);

/** A text of several lines, safe and cut; NULL for NULL and for empty text.  Caller frees. */
char *al_upstream_text(const char *text, size_t max_bytes);

/** Read the list of tools and make it the server's.  *ret_differs: it is another one.  Returns as
 * al_upstream_link_await(), with a phrase in *ret_problem (NULL: how the process ended says it
 * all). Caller frees. */
int al_upstream_read_tools(struct al_upstream_link *link, int64_t deadline_ms, bool *ret_differs,
                           char **ret_problem);

/* --- profile.c --- */

/** Made anew for each start, so that files which were replaced meanwhile are found. */
struct al_upstream_profile {
    char *program; /**< absolute; links are not resolved, since some programs look at their path */
    struct al_strv env;
    int ruleset_fd; /**< 0: not confined */
    struct al_confinement sandbox;
};

#define AL_UPSTREAM_PROFILE_INIT ((struct al_upstream_profile){ .program = NULL })

/**
 * Find the program, make the scratch directory, and build the confinement:
 *
 *   read     programs and libraries of the system, the roots, the scratch directory, `read`
 *   write    the roots, the scratch directory, `write`
 *   execute  programs of the system, the server's own directory of programs, `exec`
 *   network  none, or with `network` TCP connections and UDP, but no UNIX socket
 *
 * @return 0; AL_ERR_EXECUTION when there is no such program; AL_ERR_SANDBOX when it cannot be
 *         confined.
 */
int al_upstream_profile_make(const struct al_upstream_settings *settings,
                             struct al_upstream_profile *ret_profile, struct al_error *err);
void al_upstream_profile_clear(struct al_upstream_profile *profile);

#endif
