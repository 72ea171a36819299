// SPDX-License-Identifier: Apache-2.0
#include "proc/jobs.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/proc.h"

/* A thread in the queue; on its stack. */
struct waiter {
    struct waiter *next;
    struct al_job *job;
    int fd; /* readable once granted */
    bool granted;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned limit; /* 0: not known yet */
static struct al_job *held;
static unsigned nrecent, nlong; /* how many of `held` are recent, and long */
static struct waiter *first;
static struct waiter **last = &first;

static unsigned online_cores(void)
{
    cpu_set_t cpus;
    int count;

    if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
        return 1;
    count = CPU_COUNT(&cpus);
    return count > 0 ? (unsigned)count : 1;
}

bool al_jobs_has_room(unsigned recent, unsigned long_running, unsigned max)
{
    return !recent || (recent < max && recent + long_running < max + AL_JOB_LONG_MAX);
}

/* Caller holds the mutex. */
static void add_held(struct al_job *job)
{
    *job = (struct al_job){ .next = held, .since_ms = al_clock_ms() };
    held = job;
    nrecent++;
}

/* Caller holds the mutex.  Count jobs held for AL_JOB_LONG_MS as long.  Returns the milliseconds
 * until the next one is long, -1: none. */
static int mark_long(void)
{
    const int64_t now = al_clock_ms();
    int64_t next = -1;

    for (struct al_job *job = held; job; job = job->next) {
        const int64_t left = job->since_ms + AL_JOB_LONG_MS - now;

        if (job->is_long)
            continue;
        job->is_long = left <= 0;
        nrecent -= job->is_long;
        nlong += job->is_long;
        if (!job->is_long && (next < 0 || left < next))
            next = left;
    }
    return (int)next;
}

/* Caller holds the mutex.  Grant free jobs in the order of arrival.  True: there was one. */
static bool grant_jobs(void)
{
    const uint64_t one = 1;
    bool granted = false;

    while (first && al_jobs_has_room(nrecent, nlong, limit)) {
        struct waiter *waiter = first;

        first = waiter->next;
        if (!first)
            last = &first;
        waiter->granted = granted = true;
        add_held(waiter->job);
        (void)!write(waiter->fd, &one, sizeof(one)); /* cannot fail: the counter is 0 */
    }
    return granted;
}

/* Caller holds the mutex.  Leave the queue without a job. */
static void leave_queue(struct waiter *waiter)
{
    struct waiter **at = &first;

    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
    if (last == &waiter->next)
        last = at;
}

/* Blocks until granted (true) or cancelled (false). */
static bool wait_in_queue(struct waiter *waiter, const struct al_cancel *cancel)
{
    struct pollfd fds[] = {
        { .fd = waiter->fd, .events = POLLIN },
        { .fd = al_cancel_fd(cancel), .events = POLLIN },
    };
    bool granted;

    do {
        int next_ms;

        pthread_mutex_lock(&mutex);
        do /* again with the jobs just granted, which become long too */
            next_ms = mark_long();
        while (grant_jobs());
        pthread_mutex_unlock(&mutex);
        (void)poll(fds, 2, next_ms);
    } while (!fds[0].revents && !fds[1].revents);

    pthread_mutex_lock(&mutex);
    granted = waiter->granted;
    if (!granted)
        leave_queue(waiter);
    pthread_mutex_unlock(&mutex);
    return granted;
}

/* Acquire a free job (true), or join the queue as `waiter` unless it is NULL. */
static bool acquire_or_queue(struct al_job *job, struct waiter *waiter)
{
    bool acquired;

    pthread_mutex_lock(&mutex);
    if (!limit)
        limit = online_cores();
    acquired = !first && al_jobs_has_room(nrecent, nlong, limit);
    if (acquired) {
        add_held(job);
    } else if (waiter) {
        *last = waiter;
        last = &waiter->next;
    }
    pthread_mutex_unlock(&mutex);
    return acquired;
}

int al_jobs_acquire(struct al_job *job, struct al_cancel *cancel, struct al_error *err)
{
    struct waiter waiter = { .job = job, .fd = -1 };
    bool granted;

    if (al_cancel_fired(cancel))
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    if (acquire_or_queue(job, NULL))
        return 0;

    al_auto(al_closep) int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        return al_error_errno(err, errno, "cannot wait for a job");
    waiter.fd = fd;
    granted = acquire_or_queue(job, &waiter) || wait_in_queue(&waiter, cancel);
    if (granted && !al_cancel_fired(cancel))
        return 0;
    if (granted)
        al_jobs_release(job);
    return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
}

void al_jobs_release(struct al_job *job)
{
    struct al_job **at = &held;

    pthread_mutex_lock(&mutex);
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    nrecent -= !job->is_long;
    nlong -= job->is_long;
    (void)grant_jobs();
    pthread_mutex_unlock(&mutex);
}

void al_proc_set_jobs(unsigned jobs)
{
    pthread_mutex_lock(&mutex);
    limit = jobs ? jobs : 1;
    (void)grant_jobs();
    pthread_mutex_unlock(&mutex);
}
