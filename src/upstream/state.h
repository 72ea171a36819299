// SPDX-License-Identifier: Apache-2.0
/*
 * The state of an upstream server, shared by its own thread and the threads of calls.
 *
 *   settings and what they point to   constant
 *   wake_fd                           eventfd, never read: readable from al_upstream_end() on
 *   skips_probe                       the server's thread only
 *   all others                        guarded by `lock`, which is never held while anything blocks
 */
#ifndef AL_UPSTREAM_STATE_H
#define AL_UPSTREAM_STATE_H

#include <pthread.h>

#include "upstream/upstream.h"
#include "wire/writer.h"

/** A question of the server that waits for the thread of a call. */
struct al_upstream_question {
    struct al_upstream_question *next;
    char *id; /**< canonical JSON text */
    const char *method;
    json_t *params;
};

/** A thread that waits for the server, in a call or for the list of tools. */
struct al_upstream_wait {
    struct al_upstream_wait *next; /**< the newest is last */
    int event_fd;                  /**< readable after every change; -1: descriptors ran out */
    unsigned nfailures;            /**< of the server when the wait began */
    unsigned long id;              /**< of the request in flight; 0: none is */
    bool asks;                     /**< the call takes questions */

    bool answered;
    json_t *result; /**< NULL with `answered`: `failure` says why */
    struct al_error failure;
    bool has_progress;
    struct al_upstream_progress progress; /**< the newest; owns its message */
    struct al_upstream_question *questions;
    size_t nquestions;
    const char *asking_id;    /**< the question that is being asked; NULL: none */
    struct al_cancel *asking; /**< fired when its answer is no longer wanted */
};

struct al_upstream {
    struct al_upstream_settings settings;
    char *name, *path_list, *scratch_dir;
    struct al_strv command, env, read, write, exec;
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
    const struct al_upstream_tools *tools;
    bool list_is_old; /**< `tools` has changed, says the server, and was not read again yet */
    char *program;
    size_t nleft_out;
    char *left_out;
    struct al_error problem; /**< why it is not ready; no status: it is */
    unsigned nstarts;
    unsigned nfailures; /**< starts that came to nothing */
    unsigned streak;    /**< failures in a row */
    int64_t next_start_ms;
};

/** Caller holds the lock.  Make every waiting thread look at the state again. */
void al_upstream_signal_all(struct al_upstream *server);
/** Caller holds the lock.  Make one waiting thread look again. */
void al_upstream_signal(struct al_upstream_wait *wait);

/** Caller holds the lock.  The request in flight has its end; `wait` has the result or failure. */
void al_upstream_answer(struct al_upstream_wait *wait);

/** Caller holds the lock.  Free the newest progress. */
void al_upstream_drop_progress(struct al_upstream_wait *wait);

void al_upstream_question_free(struct al_upstream_question *question);

/** Caller holds the lock.  Free the questions that wait. */
void al_upstream_free_questions(struct al_upstream_wait *wait);

/** The method of a question as a constant, if the client can be asked for it; NULL: it cannot. */
const char *al_upstream_offered(const struct al_upstream *server, const char *method);

/** Caller holds the lock.  Send one line; false: the server takes nothing more. */
bool al_upstream_send(struct al_upstream *server, struct al_str *line);

/** Append a notification that a request is no longer wanted. */
void al_upstream_add_cancelled(struct al_str *line, unsigned long id, const char *reason);

/** A copy of `params` (NULL: {}) as a request of the revision has it: with what a modern server
 * needs in `_meta`, and a progress token unless `token` is 0.  Caller owns the reference. */
json_t *al_upstream_params(const struct al_upstream *server, const struct al_revision *revision,
                           const json_t *params, unsigned long token, bool asks);

/** Append a request. */
void al_upstream_add_request(struct al_str *line, unsigned long id, const char *method,
                             const json_t *params);

/** The capabilities that the client has, as far as it can be asked.  Caller owns the reference. */
json_t *al_upstream_capabilities(const struct al_upstream *server, bool asks);

/** airlock, as clientInfo.  Caller owns the reference. */
json_t *al_upstream_client_info(void);

/** The wait before the next start, after so many failures in a row. */
int64_t al_upstream_backoff_ms(unsigned streak);

/** The life of the server: the main function of its thread. */
void *al_upstream_main(void *payload);

#endif
