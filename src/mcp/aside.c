// SPDX-License-Identifier: Apache-2.0
/*
 * Calls that read, while enough of them run.
 *
 * As many children work at once as there are cores.  More calls than that would each have a thread,
 * a repository they opened and a file in the journal only to wait; beyond that number they lie here
 * instead, first come first served, until a thread that has run one takes up the next.  One core is
 * then always at either a call or its child, as if the calls had come one after the other.
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
#include "mcp/running.h"
#include "proc/proc.h"
#include "tool/tool.h"

/* Caller holds the lock. */
static bool has_room(const struct al_calls *calls)
{
    return calls->nreading < calls->reading_max;
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
static void put_last(struct al_running *call)
{
    struct al_calls *calls = call->calls;

    call->is_aside = true;
    *calls->last_aside = call;
    calls->last_aside = &call->next_aside;
}

static void put_first(struct al_running *call)
{
    struct al_calls *calls = call->calls;

    call->is_aside = true;
    call->next_aside = calls->aside;
    if (!calls->aside)
        calls->last_aside = &call->next_aside;
    calls->aside = call;
}

static void take_out(struct al_running *call)
{
    struct al_calls *calls = call->calls;
    struct al_running **at = &calls->aside;

    while (*at != call)
        at = &(*at)->next_aside;
    *at = al_take(&call->next_aside);
    if (!*at)
        calls->last_aside = at;
    call->is_aside = false;
}

void al_aside_cancel(struct al_running *call)
{
    struct al_calls *calls = call->calls;

    if (call->is_aside) {
        take_out(call);
        put_first(call);
    } else if (!call->waiting_for) {
        calls->nreading -= call->reads;
    }
    call->reads = false;
    tell(calls);
}

void al_aside_pause(struct al_running *call)
{
    call->calls->nreading -= call->reads;
    tell(call->calls);
}

void al_aside_resume(struct al_running *call)
{
    call->calls->nreading += call->reads;
}

void al_aside_end(struct al_running *call)
{
    call->calls->nreading -= call->reads;
}

bool al_calls_admit(struct al_running *call)
{
    struct al_calls *calls = call->calls;
    bool now;

    if (!al_effects_read_only(al_tool_effects(call->order.tool->tool)))
        return true;
    (void)pthread_mutex_lock(&calls->lock);
    call->reads = !call->cancelled;
    now = !calls->aside && has_room(calls);
    if (now)
        calls->nreading += call->reads;
    else
        put_last(call);
    (void)pthread_mutex_unlock(&calls->lock);
    return now;
}

struct al_running *al_calls_next(struct al_calls *calls)
{
    struct al_running *call = NULL;

    (void)pthread_mutex_lock(&calls->lock);
    if (is_due(calls)) {
        call = calls->aside;
        take_out(call);
        calls->nreading += call->reads;
        tell(calls); /* one thread takes one call */
    }
    (void)pthread_mutex_unlock(&calls->lock);
    return call;
}
