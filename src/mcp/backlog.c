// SPDX-License-Identifier: Apache-2.0
/*
 * Calls that read, while enough of them run.
 *
 * As many children work at once as there are cores.  More calls than that would each have a thread,
 * a repository they opened and a file in the journal only to wait; beyond that number they lie here
 * instead, first come first served, until a thread that has run one takes up the next.  One core is
 * then always at either a call or its child, as if the calls had come one after the other.
 *
 * A call that reads for AL_JOB_LONG_MS makes room for another, by the rule of proc/jobs.h: one
 * that is slow holds up none that is quick.  The pump looks when that time has come.
 *
 * A call that does more than read is never put aside: it may wait long for a person, or for others
 * who write.  One that reads and by a rule has to ask does not count while it waits for the answer,
 * nor does one that was cancelled: what holds it up, a dead file server say, holds up no other.
 *
 * When a call lies here another one that reads runs, or waits for a person, and its thread asks
 * al_calls_dequeue() in the end.
 */
#include <sys/eventfd.h>

#include "mcp/calls.h"
#include "mcp/inflight.h"
#include "proc/jobs.h"
#include "proc/proc.h"
#include "tool/tool.h"
#include "util/clock.h"

/* Caller holds the lock. */
static bool has_room(const struct al_calls *calls)
{
    return al_jobs_has_room(calls->nrecent_reads, calls->nlong_reads, calls->reads_max);
}

/* Caller holds the lock.  Whether there is a call to go on with. */
static bool has_runnable(const struct al_calls *calls)
{
    return calls->backlog && (calls->backlog->cancelled || has_room(calls));
}

/* Caller holds the lock.  Wake a thread that waits, if there is a call for it. */
static void wake_worker(const struct al_calls *calls)
{
    if (has_runnable(calls))
        (void)eventfd_write(calls->backlog_fd, 1);
}

/* Caller holds the lock, here and below. */
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

/* Those that began long enough ago last long from now on.  When the next one does, INT64_MAX: none.
 */
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

    if (!al_effects_read_only(al_tool_effects(call->spec.tool->tool)))
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
