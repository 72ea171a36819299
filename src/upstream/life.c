// SPDX-License-Identifier: Apache-2.0
/*
 * The life of an upstream server, on a thread of its own:
 *
 *   wait until it may start -> start -> handshake -> tools/list -> serve -> close -> ...
 *
 * A server that ends is started again by itself, after 1, 2, 4 ... 60 seconds.  The wait begins
 * anew once it has answered a call.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "upstream/limits.h"
#include "upstream/link.h"
#include "util/clock.h"

/* --- Phases --- */

static void set_phase(struct al_upstream *server, enum al_upstream_phase phase)
{
    (void)pthread_mutex_lock(&server->lock);
    server->phase = phase;
    server->was_ready |= phase == AL_UPSTREAM_READY;
    if (phase == AL_UPSTREAM_READY)
        al_error_clear(&server->problem);
    al_upstream_signal_all(server);
    (void)pthread_mutex_unlock(&server->lock);
}

/* Wait until the server may be started.  False: it is to be ended. */
static bool await_start(struct al_upstream *server)
{
    struct pollfd wake = { .fd = server->wake_fd, .events = POLLIN };
    int64_t left_ms;

    /* Only this thread changes the time. */
    while ((left_ms = server->next_start_ms - al_clock_ms()) > 0)
        if (poll(&wake, 1, (int)left_ms) > 0)
            return false;
    if (poll(&wake, 1, 0) > 0)
        return false;
    set_phase(server, AL_UPSTREAM_STARTING);
    return true;
}

int64_t al_upstream_backoff_ms(unsigned streak)
{
    const unsigned doublings = streak < 16 ? streak : 16;
    const int64_t wait_ms = (int64_t)AL_UPSTREAM_BACKOFF_FIRST_MS << doublings;

    return wait_ms < AL_UPSTREAM_BACKOFF_MAX_MS ? wait_ms : AL_UPSTREAM_BACKOFF_MAX_MS;
}

/* Caller holds the lock.  Whoever waits for the server is told why that is in vain. */
static void fail_waits(struct al_upstream *server)
{
    for (struct al_upstream_wait *wait = server->waits; wait; wait = wait->next) {
        if (wait->id) {
            (void)al_error_set(&wait->failure, AL_ERR_EXECUTION, "the call was lost: %s",
                               server->problem.message);
            al_upstream_answer(wait);
        }
        al_upstream_signal(wait);
    }
}

/* The process has ended, or could not be started; `why` is taken over. */
static void note_failure(struct al_upstream *server, struct al_error *why)
{
    (void)pthread_mutex_lock(&server->lock);
    if (server->has_answered)
        server->streak = 0;
    server->has_answered = false;
    server->next_start_ms = al_clock_ms() + al_upstream_backoff_ms(server->streak);
    server->streak++;
    server->nfailures += !server->was_ready;
    server->was_ready = false;
    al_error_clear(&server->problem);
    server->problem = *why;
    *why = AL_ERROR_INIT;
    server->phase = AL_UPSTREAM_WAITING;
    server->list_is_old = false;
    fail_waits(server);
    (void)pthread_mutex_unlock(&server->lock);
}

static void note_end(struct al_upstream *server)
{
    (void)pthread_mutex_lock(&server->lock);
    server->phase = AL_UPSTREAM_ENDED;
    al_error_clear(&server->problem);
    (void)al_error_set(&server->problem, AL_ERR_EXECUTION, "MCP server '%s' is being ended",
                       server->name);
    fail_waits(server);
    (void)pthread_mutex_unlock(&server->lock);
}

/* --- One process --- */

static int read_tools(struct al_upstream_link *link, int64_t deadline_ms, char **ret_problem)
{
    struct al_upstream *server = link->server;
    bool differs = false;
    int r;

    link->list_changed = false;
    r = al_upstream_read_tools(link, deadline_ms, &differs, ret_problem);
    if (r < 0)
        return r;
    /* Whoever waits for the server then knows of the list already. */
    if (differs && server->settings.on_tools)
        server->settings.on_tools(server->settings.payload);
    set_phase(server, AL_UPSTREAM_READY);
    return 0;
}

/* The list of before stays, and nobody waits for another one. */
static void keep_tools(struct al_upstream *server)
{
    (void)pthread_mutex_lock(&server->lock);
    server->list_is_old = false;
    al_upstream_signal_all(server);
    (void)pthread_mutex_unlock(&server->lock);
}

/* Serve until something ends it.  A list that has changed is read again, but not all the time. */
static int serve(struct al_upstream_link *link, char **ret_problem)
{
    const uint32_t timeout_ms = link->server->settings.timeout_ms;
    int64_t next_list_ms = al_clock_ms() + AL_UPSTREAM_RELIST_MS;
    int r = 0;

    while (r == 0) {
        const int64_t now_ms = al_clock_ms();

        if (!link->list_changed || now_ms < next_list_ms) {
            r = al_upstream_link_wait(link, link->list_changed ? next_list_ms : INT64_MAX);
            continue;
        }
        r = read_tools(link, now_ms + timeout_ms, ret_problem);
        if (r == AL_ERR_TIMEOUT || (r < 0 && *ret_problem)) {
            free(al_take(ret_problem));
            keep_tools(link->server);
            r = 0;
        }
        next_list_ms = al_clock_ms() + AL_UPSTREAM_RELIST_MS;
    }
    return r;
}

static int converse(struct al_upstream_link *link, char **ret_problem)
{
    const int64_t deadline_ms = al_clock_ms() + link->server->settings.timeout_ms;
    int r = al_upstream_shake_hands(link, deadline_ms, ret_problem);

    if (r == 0)
        r = read_tools(link, deadline_ms, ret_problem);
    return r == 0 ? serve(link, ret_problem) : r;
}

/* Start the server and stay with it until it has ended.  AL_ERR_CANCELLED: it was to be ended;
 * AL_ERR_AGAIN: it may be started again at once; anything else: why it ended. */
static int run(struct al_upstream *server, struct al_error *err)
{
    struct al_upstream_link link;
    al_auto(al_freep) char *problem = NULL;
    al_auto(al_freep) char *end = NULL;
    struct al_error why = AL_ERROR_INIT;
    int r = al_upstream_link_open(server, &link, &why);

    if (r < 0) {
        (void)al_error_set(err, r, "MCP server '%s': %s", server->name, why.message);
        al_error_clear(&why);
        return r;
    }
    r = converse(&link, &problem);
    if (!problem && link.broken && !link.has_ended)
        problem = al_strdup(link.broken);
    al_upstream_link_close(&link, r == AL_ERR_CANCELLED, &end);
    if (r == AL_ERR_CANCELLED)
        return r;
    if (!link.revision && link.has_ended && !server->skips_probe) {
        server->skips_probe = true;
        return AL_ERR_AGAIN;
    }
    return al_error_set(err, r, "MCP server '%s' %s", server->name, problem ? problem : end);
}

void *al_upstream_main(void *payload)
{
    struct al_upstream *server = payload;

    while (await_start(server)) {
        struct al_error err = AL_ERROR_INIT;
        int r = run(server, &err);

        if (r == AL_ERR_AGAIN)
            r = run(server, &err);
        if (r == AL_ERR_CANCELLED)
            break;
        note_failure(server, &err);
    }
    note_end(server);
    return NULL;
}
