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
 * al_calls_next() in the end.
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
    return al_jobs_has_room(calls->nreading, calls->nlong, calls->reading_max);
}

/* Caller holds the lock.  Whether there is a call to go on with. */
static bool is_due(const struct al_calls *calls)
{
    return calls->aside && (calls->aside->cancelled || has_room(calls));
}

/* Caller holds the lock.  Wake a thread that waits, if there is a call for it. */
static void tell(const struct al_calls *calls)
{
    if (is_due(calls))
        (void)eventfd_write(calls->aside_fd, 1);
}

/* Caller holds the lock, here and below. */
static void count_in(struct al_inflight *call)
{
    if (!call->reads)
        return;
    call->count = AL_COUNT_NEW;
    call->reading_from = al_clock_ms();
    call->calls->nreading++;
}

static void count_out(struct al_inflight *call)
{
    call->calls->nreading -= call->count == AL_COUNT_NEW;
    call->calls->nlong -= call->count == AL_COUNT_LONG;
    call->count = AL_COUNT_NOT;
}

/* Those that began long enough ago last long from now on.  When the next one does, INT64_MAX: none.
 */
static int64_t tell_long_ones(struct al_calls *calls, int64_t now_ms)
{
    int64_t next = INT64_MAX;

    for (struct al_inflight *call = calls->running; call; call = call->next) {
        const int64_t at = call->reading_from + AL_JOB_LONG_MS;

        if (call->count != AL_COUNT_NEW)
            continue;
        if (at <= now_ms) {
            call->count = AL_COUNT_LONG;
            calls->nreading--;
            calls->nlong++;
        } else if (at < next) {
            next = at;
        }
    }
    return next;
}

int64_t al_backlog_look(struct al_calls *calls, int64_t now_ms)
{
    int64_t next;

    if (!calls->aside)
        return INT64_MAX;
    next = tell_long_ones(calls, now_ms);
    tell(calls);
    return next;
}

static void put_last(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;

    call->is_aside = true;
    *calls->last_aside = call;
    calls->last_aside = &call->next_aside;
}

static void put_first(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;

    call->is_aside = true;
    call->next_aside = calls->aside;
    if (!calls->aside)
        calls->last_aside = &call->next_aside;
    calls->aside = call;
}

static void take_out(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;
    struct al_inflight **at = &calls->aside;

    while (*at != call)
        at = &(*at)->next_aside;
    *at = al_take(&call->next_aside);
    if (!*at)
        calls->last_aside = at;
    call->is_aside = false;
}

void al_backlog_cancel(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;

    if (call->is_aside) {
        take_out(call);
        put_first(call);
    }
    count_out(call);
    call->reads = false;
    tell(calls);
}

void al_backlog_pause(struct al_inflight *call)
{
    count_out(call);
    tell(call->calls);
}

void al_backlog_resume(struct al_inflight *call)
{
    count_in(call);
}

void al_backlog_end(struct al_inflight *call)
{
    count_out(call);
}

bool al_calls_admit(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;
    bool now;

    if (!al_effects_read_only(al_tool_effects(call->order.tool->tool)))
        return true;
    (void)pthread_mutex_lock(&calls->lock);
    call->reads = !call->cancelled;
    if (!has_room(calls))
        (void)tell_long_ones(calls, al_clock_ms());
    now = !calls->aside && has_room(calls);
    if (now) {
        count_in(call);
    } else {
        put_last(call);
        al_calls_plan_flush(calls, al_backlog_look(calls, al_clock_ms()));
    }
    (void)pthread_mutex_unlock(&calls->lock);
    return now;
}

struct al_inflight *al_calls_next(struct al_calls *calls)
{
    struct al_inflight *call = NULL;

    (void)pthread_mutex_lock(&calls->lock);
    if (is_due(calls)) {
        call = calls->aside;
        take_out(call);
        count_in(call);
        al_calls_plan_flush(calls, al_backlog_look(calls, al_clock_ms()));
    }
    (void)pthread_mutex_unlock(&calls->lock);
    return call;
}
