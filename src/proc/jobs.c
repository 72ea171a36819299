// SPDX-License-Identifier: Apache-2.0
/* Job slots, as in make -j: a semaphore that limits how many children work at once. */
#include "proc/proc.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"

/* A thread in the queue; on its stack. */
struct waiter {
    struct waiter *next;
    int fd; /* readable once granted */
    bool granted;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned limit; /* 0: not known yet */
static unsigned njobs; /* that there are */
static struct waiter *first;
static struct waiter **last = &first;

static _Thread_local bool has_job;

static unsigned online_cores(void)
{
    cpu_set_t cpus;
    int count;

    if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
        return 1;
    count = CPU_COUNT(&cpus);
    return count > 0 ? (unsigned)count : 1;
}

/* Caller holds the mutex.  Grant free jobs in the order of arrival. */
static void grant_jobs(void)
{
    const uint64_t one = 1;

    while (first && njobs < limit) {
        struct waiter *waiter = first;

        first = waiter->next;
        if (!first)
            last = &first;
        waiter->granted = true;
        njobs++;
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
    is_free = !first && njobs < limit;
    njobs += is_free;
    if (!is_free && (waiter.fd = fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) >= 0) {
        *last = &waiter;
        last = &waiter.next;
    }
    pthread_mutex_unlock(&mutex);
    if (!is_free && fd < 0)
        return al_error_errno(err, errno, "cannot wait for a job");
    has_job = is_free || wait_in_queue(&waiter, cancel);
    if (has_job && !al_cancel_fired(cancel))
        return 0;
    al_proc_release_job();
    return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
}

void al_proc_release_job(void)
{
    pthread_mutex_lock(&mutex);
    njobs -= has_job;
    has_job = false;
    grant_jobs();
    pthread_mutex_unlock(&mutex);
}

void al_proc_set_jobs(unsigned jobs)
{
    pthread_mutex_lock(&mutex);
    limit = jobs ? jobs : 1;
    grant_jobs();
    pthread_mutex_unlock(&mutex);
}
