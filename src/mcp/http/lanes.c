// SPDX-License-Identifier: Apache-2.0
#include "mcp/http/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* The jobs of one owner.  A session is in one of the lists with its first job only; the others are
 * behind that one. */
struct al_lane {
    struct al_lane *next;
    const void *owner;
    size_t njobs, nbytes;
    size_t nrunning, nlarge; /* of those that run */
    struct al_job *waiting;  /* first in, first out */
    struct al_job *running;
};

static struct al_lane *find_lane(const struct al_lanes *lanes, const void *owner)
{
    struct al_lane *lane = lanes->first;

    while (lane && lane->owner != owner)
        lane = lane->next;
    return lane;
}

static void append_lane(struct al_lanes *lanes, struct al_lane *lane)
{
    struct al_lane **at = &lanes->first;

    while (*at)
        at = &(*at)->next;
    lane->next = NULL;
    *at = lane;
}

static void remove_lane(struct al_lanes *lanes, const struct al_lane *lane)
{
    struct al_lane **at = &lanes->first;

    while (*at != lane)
        at = &(*at)->next;
    *at = lane->next;
}

static struct al_lane *add_lane(struct al_lanes *lanes, const void *owner)
{
    struct al_lane *lane = al_calloc(1, sizeof(*lane));

    lane->owner = owner;
    append_lane(lanes, lane);
    return lane;
}

static void append(struct al_job **list, struct al_job *job)
{
    while (*list)
        list = &(*list)->next;
    job->next = NULL;
    *list = job;
}

static void unlink_job(struct al_job **list, struct al_job *job)
{
    while (*list != job)
        list = &(*list)->next;
    *list = al_take(&job->next);
}

static struct al_job *find_session(struct al_job *list, const char *session)
{
    while (list && (!list->session || strcmp(list->session, session) != 0))
        list = list->next;
    return list;
}

/* The job of the same session that this one has to wait for; NULL: none. */
static struct al_job *find_ahead(const struct al_lane *lane, const struct al_job *job)
{
    struct al_job *ahead = NULL;

    if (job->session)
        ahead = find_session(lane->running, job->session);
    if (job->session && !ahead)
        ahead = find_session(lane->waiting, job->session);
    return ahead;
}

bool al_lanes_add(struct al_lanes *lanes, struct al_job *job)
{
    struct al_lane *lane = find_lane(lanes, job->owner);
    struct al_job *ahead;

    if (lane ? lane->njobs >= lanes->limits.jobs || job->bytes > lanes->limits.bytes - lane->nbytes
             : job->bytes > lanes->limits.bytes)
        return false;
    if (!lane)
        lane = add_lane(lanes, job->owner);
    lane->njobs++;
    lane->nbytes += job->bytes;
    job->lane = lane;
    job->next = job->behind = job->behind_last = NULL;
    ahead = find_ahead(lane, job);
    if (!ahead)
        append(&lane->waiting, job);
    else if (ahead->behind)
        ahead->behind_last->next = job;
    else
        ahead->behind = job;
    if (ahead)
        ahead->behind_last = job;
    return true;
}

static bool is_large(const struct al_lanes *lanes, const struct al_job *job)
{
    return job->bytes > lanes->limits.large_bytes;
}

static bool has_thread(const struct al_lanes *lanes, size_t nrunning)
{
    return !lanes->limits.running || nrunning < lanes->limits.running;
}

/* The job of a lane that may run; NULL: none. */
static struct al_job *find_ready(const struct al_lanes *lanes, const struct al_lane *lane)
{
    struct al_job *job = has_thread(lanes, lane->nrunning) ? lane->waiting : NULL;

    while (job && lane->nlarge && is_large(lanes, job))
        job = job->next;
    return job;
}

struct al_job *al_lanes_take(struct al_lanes *lanes)
{
    for (struct al_lane *lane = lanes->first; lane; lane = lane->next) {
        struct al_job *job = find_ready(lanes, lane);

        if (!job)
            continue;
        unlink_job(&lane->waiting, job);
        append(&lane->running, job);
        lane->nrunning++;
        lane->nlarge += is_large(lanes, job);
        remove_lane(lanes, lane);
        append_lane(lanes, lane);
        return job;
    }
    return NULL;
}

/* The next job of the session takes the place of the one that has ended. */
static void promote(struct al_lane *lane, const struct al_job *job)
{
    struct al_job *first = job->behind;

    if (!first)
        return;
    first->behind = first->next;
    first->behind_last = first->behind ? job->behind_last : NULL;
    append(&lane->waiting, first);
}

void al_lanes_leave(struct al_lanes *lanes, struct al_job *job)
{
    struct al_lane *lane = job->lane;

    unlink_job(&lane->running, job);
    lane->nrunning--;
    lane->nlarge -= is_large(lanes, job);
    lane->njobs--;
    lane->nbytes -= job->bytes;
    promote(lane, job);
    if (lane->njobs)
        return;
    remove_lane(lanes, lane);
    free(lane);
}

static size_t count_ready(const struct al_lanes *lanes, const struct al_lane *lane, size_t max)
{
    size_t count = 0, nlarge = lane->nlarge;

    for (const struct al_job *job = lane->waiting;
         job && count < max && has_thread(lanes, lane->nrunning + count); job = job->next) {
        if (nlarge && is_large(lanes, job))
            continue;
        nlarge += is_large(lanes, job);
        count++;
    }
    return count;
}

size_t al_lanes_count_ready(const struct al_lanes *lanes, size_t max)
{
    size_t count = 0;

    for (const struct al_lane *lane = lanes->first; lane && count < max; lane = lane->next)
        count += count_ready(lanes, lane, max - count);
    return count;
}
