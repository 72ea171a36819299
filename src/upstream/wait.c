// SPDX-License-Identifier: Apache-2.0
#include "upstream/wait.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proc/cancel.h"
#include "upstream/limits.h"
#include "util/clock.h"

int al_upstream_wait_begin(struct al_upstream *server, struct al_upstream_wait *wait,
                           struct al_error *err)
{
    struct al_upstream_wait **at;

    *wait = (struct al_upstream_wait){ .event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                                       .failure = AL_ERROR_INIT };
    if (wait->event_fd < 0)
        return al_error_errno(err, errno, "cannot create an event descriptor");
    (void)pthread_mutex_lock(&server->lock);
    wait->nfailures = server->nfailures;
    for (at = &server->waits; *at; at = &(*at)->next)
        ;
    *at = wait;
    (void)pthread_mutex_unlock(&server->lock);
    return 0;
}

void al_upstream_wait_end(struct al_upstream *server, struct al_upstream_wait *wait,
                          const char *reason)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    struct al_upstream_wait **at = &server->waits;

    (void)pthread_mutex_lock(&server->lock);
    while (*at != wait)
        at = &(*at)->next;
    *at = wait->next;
    if (wait->id) {
        al_upstream_add_cancelled(&line, wait->id, reason);
        (void)al_upstream_send(server, &line);
    }
    al_upstream_free_questions(wait);
    al_upstream_drop_progress(wait);
    (void)pthread_mutex_unlock(&server->lock);
    json_decref(wait->result);
    al_error_clear(&wait->failure);
    al_close(wait->event_fd);
}

void al_upstream_wait_once(const struct al_upstream_wait *wait, struct al_cancel *cancel,
                           int64_t deadline_ms)
{
    struct pollfd fds[] = {
        { .fd = wait->event_fd, .events = POLLIN },
        { .fd = al_cancel_fd(cancel), .events = POLLIN },
    };
    const int64_t left_ms = deadline_ms - al_clock_ms();
    uint64_t ignored;

    if (left_ms > 0)
        (void)poll(fds, AL_COUNT(fds), left_ms < INT_MAX ? (int)left_ms : INT_MAX);
    (void)!read(wait->event_fd, &ignored, sizeof(ignored));
}

/* Caller holds the lock.  Why it is in vain to wait for the server; 0: it is not. */
static int find_failure(const struct al_upstream *server, const struct al_upstream_wait *wait,
                        struct al_error *err)
{
    const int64_t left_ms = server->next_start_ms - al_clock_ms();

    if (server->ending)
        return al_error_set(err, AL_ERR_EXECUTION, "MCP server '%s' is being ended", server->name);
    if (!server->has_thread)
        return al_error_set(err, AL_ERR_EXECUTION, "MCP server '%s': cannot create a thread",
                            server->name);
    if (server->phase != AL_UPSTREAM_WAITING)
        return 0;
    if (server->nfailures == wait->nfailures && left_ms <= AL_UPSTREAM_PATIENCE_MS)
        return 0;
    if (server->settings.is_brief)
        return al_error_set(err, server->problem.status, "%s", server->problem.message);
    return al_error_set(err, server->problem.status, "%s; it is started again in %d s",
                        server->problem.message, (int)((left_ms + 999) / 1000));
}

int al_upstream_wait_ready(struct al_upstream *server, const struct al_upstream_wait *wait,
                           struct al_cancel *cancel, int64_t deadline_ms, struct al_error *err)
{
    bool ready;
    int r;

    for (;;) {
        (void)pthread_mutex_lock(&server->lock);
        ready = server->phase == AL_UPSTREAM_READY;
        r = find_failure(server, wait, err);
        (void)pthread_mutex_unlock(&server->lock);
        if (r < 0 || ready)
            return r;
        if (al_cancel_fired(cancel))
            return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
        if (al_clock_ms() >= deadline_ms)
            return al_error_set(err, AL_ERR_TIMEOUT, "MCP server '%s' is still starting",
                                server->name);
        al_upstream_wait_once(wait, cancel, deadline_ms);
    }
}

/* The list as it is now, with a reference; NULL: there is none yet. */
static const struct al_upstream_tools *current_tools(struct al_upstream *server)
{
    const struct al_upstream_tools *tools;

    (void)pthread_mutex_lock(&server->lock);
    tools = server->tools ? al_upstream_tools_ref(server->tools) : NULL;
    (void)pthread_mutex_unlock(&server->lock);
    return tools;
}

/* Wait until a list that has changed was read again, or the deadline has passed. */
static void wait_for_change(struct al_upstream *server, const struct al_upstream_wait *wait,
                            struct al_cancel *cancel, int64_t deadline_ms)
{
    bool is_old = true;

    while (is_old && !al_cancel_fired(cancel) && al_clock_ms() < deadline_ms) {
        (void)pthread_mutex_lock(&server->lock);
        is_old = server->list_is_old && !server->ending;
        (void)pthread_mutex_unlock(&server->lock);
        if (is_old)
            al_upstream_wait_once(wait, cancel, deadline_ms);
    }
}

static bool is_old(struct al_upstream *server)
{
    bool old;

    (void)pthread_mutex_lock(&server->lock);
    old = server->list_is_old;
    (void)pthread_mutex_unlock(&server->lock);
    return old;
}

int al_upstream_tools(struct al_upstream *server, uint32_t wait_ms, struct al_cancel *cancel,
                      const struct al_upstream_tools **ret_tools, struct al_error *err)
{
    const struct al_upstream_tools *tools = current_tools(server);
    const int64_t deadline_ms = al_clock_ms() + wait_ms;
    struct al_upstream_wait wait;
    int r;

    al_upstream_start(server);
    if (tools && (!wait_ms || !is_old(server))) {
        *ret_tools = tools;
        return 0;
    }
    r = al_upstream_wait_begin(server, &wait, err);
    if (r == 0) {
        if (tools)
            wait_for_change(server, &wait, cancel, deadline_ms);
        else
            r = al_upstream_wait_ready(server, &wait, cancel, deadline_ms, err);
        al_upstream_wait_end(server, &wait, "");
    }
    al_upstream_tools_unref(tools);
    if (r == 0)
        *ret_tools = current_tools(server);
    return r;
}
