// SPDX-License-Identifier: Apache-2.0
/*
 * The backlog: read-only calls that wait until fewer of them run.
 *
 * proc runs as many children at once as there are cores (proc/jobs.h).  A call beyond that number
 * would hold a thread, an open repository and a record in the journal only to wait, so it is queued
 * here, first in first out, before any of that.  Without the backlog 64 calls at once take half as
 * much memory again, and 250 need more descriptors than a process usually has.  Twice as many
 * running reads take 8 % longer for 64 short calls on an idle machine.
 *
 *   call                                 queued?      counts towards reads_max
 *   may write, or uses the network       never        no
 *   read-only, just begun                if no room   yes, as recent
 *   read-only, runs for AL_JOB_LONG_MS   -            as long: it makes room for another
 *   read-only, waits for the client      -            no, until it is answered
 *   cancelled                            moves first  no
 *
 * A call that may write is never queued, because it may wait long for an approval or for another
 * writer; nor is one that may wait for a server, as every call of a mounted tool does.  A cancelled
 * call does not count, so a call stuck on a dead file server blocks no other.
 *
 * Invariant: while the backlog is not empty, at least one read-only call is running or waits for
 * the client.  Its thread calls al_calls_dequeue() in the end.  The flusher calls
 * al_backlog_update() when the oldest recent call becomes long.
 *
 * Every static function here expects the caller to hold the lock of `calls`.
 */
#include <sys/eventfd.h>

#include "mcp/calls.h"
#include "mcp/inflight.h"
#include "proc/jobs.h"
#include "tool/registry.h"
#include "tool/tool.h"
#include "util/clock.h"

static bool has_room(const struct al_calls *calls)
{
    return al_jobs_has_room(calls->nrecent_reads, calls->nlong_reads, calls->reads_max);
}

/* Whether the first queued call may run. */
static bool has_runnable(const struct al_calls *calls)
{
    return calls->backlog && (calls->backlog->cancelled || has_room(calls));
}

/* Wake a follower if a queued call may run. */
static void wake_worker(const struct al_calls *calls)
{
    if (has_runnable(calls))
        (void)eventfd_write(calls->backlog_fd, 1);
}

static void count_read(struct al_inflight *call)
{
    if (!call->is_read)
        return;
    call->read_state = AL_READ_RECENT;
    call->reading_since_ms = al_clock_ms();
    call->calls->nrecent_reads++;
}

static void uncount_read(struct al_inflight *call)
{
    call->calls->nrecent_reads -= call->read_state == AL_READ_RECENT;
    call->calls->nlong_reads -= call->read_state == AL_READ_LONG;
    call->read_state = AL_READ_NONE;
}

/* Count recent reads that began AL_JOB_LONG_MS ago as long.  Returns when the next one becomes
 * long; INT64_MAX: none. */
static int64_t mark_long(struct al_calls *calls, int64_t now_ms)
{
    int64_t next = INT64_MAX;

    for (struct al_inflight *call = calls->inflight; call; call = call->next) {
        const int64_t at = call->reading_since_ms + AL_JOB_LONG_MS;

        if (call->read_state != AL_READ_RECENT)
            continue;
        if (at <= now_ms) {
            call->read_state = AL_READ_LONG;
            calls->nrecent_reads--;
            calls->nlong_reads++;
        } else if (at < next) {
            next = at;
        }
    }
    return next;
}

int64_t al_backlog_update(struct al_calls *calls, int64_t now_ms)
{
    int64_t next;

    if (!calls->backlog)
        return INT64_MAX;
    next = mark_long(calls, now_ms);
    wake_worker(calls);
    return next;
}

static void enqueue(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;

    call->queued = true;
    *calls->backlog_last = call;
    calls->backlog_last = &call->next_queued;
}

static void enqueue_first(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;

    call->queued = true;
    call->next_queued = calls->backlog;
    if (!calls->backlog)
        calls->backlog_last = &call->next_queued;
    calls->backlog = call;
}

static void unqueue(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;
    struct al_inflight **at = &calls->backlog;

    while (*at != call)
        at = &(*at)->next_queued;
    *at = al_take(&call->next_queued);
    if (!*at)
        calls->backlog_last = at;
    call->queued = false;
}

void al_backlog_cancel(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;

    if (call->queued) {
        unqueue(call);
        enqueue_first(call);
    }
    uncount_read(call);
    call->is_read = false;
    wake_worker(calls);
}

void al_backlog_pause(struct al_inflight *call)
{
    uncount_read(call);
    wake_worker(call->calls);
}

void al_backlog_resume(struct al_inflight *call)
{
    count_read(call);
}

void al_backlog_end(struct al_inflight *call)
{
    uncount_read(call);
}

bool al_calls_admit(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;
    bool now;

    const struct al_listed_tool *tool = call->spec.tool;

    if (!tool || al_effects_have_side_effects(al_tool_effects(tool->tool)))
        return true;
    (void)pthread_mutex_lock(&calls->lock);
    call->is_read = !call->cancelled;
    if (!has_room(calls))
        (void)mark_long(calls, al_clock_ms());
    now = !calls->backlog && has_room(calls);
    if (now) {
        count_read(call);
    } else {
        enqueue(call);
        al_calls_schedule_flusher(calls, al_backlog_update(calls, al_clock_ms()));
    }
    (void)pthread_mutex_unlock(&calls->lock);
    return now;
}

struct al_inflight *al_calls_dequeue(struct al_calls *calls)
{
    struct al_inflight *call = NULL;

    (void)pthread_mutex_lock(&calls->lock);
    if (has_runnable(calls)) {
        call = calls->backlog;
        unqueue(call);
        count_read(call);
        al_calls_schedule_flusher(calls, al_backlog_update(calls, al_clock_ms()));
    }
    (void)pthread_mutex_unlock(&calls->lock);
    return call;
}
