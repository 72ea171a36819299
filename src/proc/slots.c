// SPDX-License-Identifier: Apache-2.0
#include "proc/slots.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proc/proc.h"

/* Somebody in the queue; lives on the stack of the thread that waits. */
struct waiter {
    struct waiter *next;
    int fd; /* readable once granted */
    bool granted;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned limit; /* 0 until asked or set */
static unsigned taken;
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

/* Under the mutex: hand out what is free, in order of arrival. */
static void grant_free_turns(void)
{
    const uint64_t one = 1;

    while (first && taken < limit) {
        struct waiter *waiter = first;

        first = waiter->next;
        if (!first)
            last = &first;
        waiter->granted = true;
        taken++;
        (void)!write(waiter->fd, &one, sizeof(one)); /* a fresh counter always takes one */
    }
}

/* Under the mutex: leave the queue without a turn. */
static void leave(struct waiter *waiter)
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
        (void)poll(fds, 2, -1);
    } while (!fds[0].revents && !fds[1].revents);

    pthread_mutex_lock(&mutex);
    granted = waiter->granted;
    if (!granted)
        leave(waiter);
    pthread_mutex_unlock(&mutex);
    return granted;
}

/* Under the mutex. */
static void know_limit(void)
{
    if (!limit)
        limit = online_cores();
}

/* Takes a free turn, or queues up when there is none. */
static bool take_or_queue(struct waiter *waiter)
{
    bool free_turn;

    pthread_mutex_lock(&mutex);
    know_limit();
    free_turn = !first && taken < limit;
    if (free_turn) {
        taken++;
    } else if (waiter) {
        *last = waiter;
        last = &waiter->next;
    }
    pthread_mutex_unlock(&mutex);
    return free_turn;
}

int al_slot_take(struct al_cancel *cancel, struct al_error *err)
{
    struct waiter waiter = { .fd = -1 };
    bool granted;

    if (al_cancel_fired(cancel))
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    if (take_or_queue(NULL))
        return 0;

    al_auto(al_closep) int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        return al_error_errno(err, errno, "cannot wait for a turn");
    waiter.fd = fd;
    granted = take_or_queue(&waiter) || wait_in_queue(&waiter, cancel);
    if (granted && !al_cancel_fired(cancel))
        return 0;
    if (granted)
        al_slot_give();
    return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
}

void al_slot_give(void)
{
    pthread_mutex_lock(&mutex);
    taken--;
    grant_free_turns();
    pthread_mutex_unlock(&mutex);
}

unsigned al_proc_slots(void)
{
    unsigned slots;

    pthread_mutex_lock(&mutex);
    know_limit();
    slots = limit;
    pthread_mutex_unlock(&mutex);
    return slots;
}

void al_proc_set_slots(unsigned slots)
{
    pthread_mutex_lock(&mutex);
    limit = slots ? slots : 1;
    grant_free_turns();
    pthread_mutex_unlock(&mutex);
}
