// SPDX-License-Identifier: Apache-2.0
#include "proc/cancel.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"

struct al_cancel {
    atomic_uint refs;
    atomic_bool fired;
    int fd;                  /* eventfd that is never read; -1: descriptors ran out */
    struct al_cancel *outer; /* NULL: none */
    int either_fd;           /* epoll: readable like `fd` or like the one of `outer`; -1 without */
};

struct al_cancel *al_cancel_new(void)
{
    struct al_cancel *cancel = al_malloc(sizeof(*cancel));

    atomic_init(&cancel->refs, 1);
    atomic_init(&cancel->fired, false);
    /*
     * A running child could not be cancelled without this descriptor.  But when descriptors run
     * out, no child can be started either, since its pipes cannot be made.
     */
    cancel->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    cancel->outer = NULL;
    cancel->either_fd = -1;
    return cancel;
}

struct al_cancel *al_cancel_new_within(struct al_cancel *outer)
{
    struct al_cancel *cancel = al_cancel_new();
    struct epoll_event event = { .events = EPOLLIN };

    if (!outer)
        return cancel;
    cancel->outer = al_cancel_ref(outer);
    cancel->either_fd = epoll_create1(EPOLL_CLOEXEC);
    (void)epoll_ctl(cancel->either_fd, EPOLL_CTL_ADD, cancel->fd, &event);
    (void)epoll_ctl(cancel->either_fd, EPOLL_CTL_ADD, al_cancel_fd(outer), &event);
    return cancel;
}

struct al_cancel *al_cancel_ref(struct al_cancel *cancel)
{
    atomic_fetch_add(&cancel->refs, 1);
    return cancel;
}

void al_cancel_unref(struct al_cancel *cancel)
{
    if (!cancel || atomic_fetch_sub(&cancel->refs, 1) > 1)
        return;
    al_close(cancel->fd);
    al_close(cancel->either_fd);
    al_cancel_unref(cancel->outer);
    free(cancel);
}

void al_cancel_unrefp(struct al_cancel **cancel)
{
    al_cancel_unref(al_take(cancel));
}

void al_cancel_fire(struct al_cancel *cancel)
{
    const uint64_t one = 1;

    if (atomic_exchange(&cancel->fired, true))
        return;
    (void)!write(cancel->fd, &one, sizeof(one)); /* cannot fail: the counter is 0 */
}

bool al_cancel_fired(const struct al_cancel *cancel)
{
    return cancel && (atomic_load(&cancel->fired) || al_cancel_fired(cancel->outer));
}

int al_cancel_fd(const struct al_cancel *cancel)
{
    if (!cancel)
        return -1;
    return cancel->outer ? cancel->either_fd : cancel->fd;
}
