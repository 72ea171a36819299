// SPDX-License-Identifier: Apache-2.0
#include "proc/jobs.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "proc/proc.h"

/* A thread in the queue; on its stack. */
struct waiter {
    struct waiter *next;
    int fd; /* readable once granted */
    bool granted;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned limit;          /* 0: not known yet */
static unsigned nrecent, nlong; /* the jobs there are */
static struct waiter *first;
static struct waiter **last = &first;

/* The job of this thread. */
static _Thread_local enum job { NO_JOB, RECENT, LONG } own;

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

/* Caller holds the mutex.  Grant free jobs in the order of arrival. */
static void grant_jobs(void)
{
    const uint64_t one = 1;

    while (first && al_jobs_has_room(nrecent, nlong, limit)) {
        struct waiter *waiter = first;

        first = waiter->next;
        if (!first)
            last = &first;
        waiter->granted = true;
        nrecent++;
        (void)!write(waiter->fd, &one, sizeof(one)); /* cannot fail: the counter is 0 */
    }
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

    do
        (void)poll(fds, 2, -1);
    while (!fds[0].revents && !fds[1].revents);

    pthread_mutex_lock(&mutex);
    granted = waiter->granted;
    if (!granted)
        leave_queue(waiter);
    pthread_mutex_unlock(&mutex);
    return granted;
}

/* The job of this thread, and what becomes of it. */
static void become(enum job next)
{
    pthread_mutex_lock(&mutex);
    nrecent -= own == RECENT;
    nlong -= own == LONG;
    nlong += next == LONG;
    own = next;
    grant_jobs();
    pthread_mutex_unlock(&mutex);
}

int al_proc_acquire_job(struct al_cancel *cancel, struct al_error *err)
{
    al_auto(al_closep) int fd = -1;
    struct waiter waiter = { .fd = -1 };
    bool is_free;

    if (al_cancel_fired(cancel))
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    pthread_mutex_lock(&mutex);
    if (!limit)
        limit = online_cores();
    is_free = !first && al_jobs_has_room(nrecent, nlong, limit);
    nrecent += is_free;
    if (!is_free && (waiter.fd = fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) >= 0) {
        *last = &waiter;
        last = &waiter.next;
    }
    pthread_mutex_unlock(&mutex);
    if (!is_free && fd < 0)
        return al_error_errno(err, errno, "cannot wait for a job");
    if (is_free || wait_in_queue(&waiter, cancel))
        own = RECENT;
    if (own == RECENT && !al_cancel_fired(cancel))
        return 0;
    al_proc_release_job();
    return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
}

void al_proc_release_job(void)
{
    become(NO_JOB);
}

void al_job_make_long(void)
{
    if (own == RECENT)
        become(LONG);
}

void al_proc_set_jobs(unsigned jobs)
{
    pthread_mutex_lock(&mutex);
    limit = jobs ? jobs : 1;
    grant_jobs();
    pthread_mutex_unlock(&mutex);
}
