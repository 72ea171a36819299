// SPDX-License-Identifier: Apache-2.0
/*
 * A filter costs each child that puts it on a tenth of a millisecond, most of it for the kernel to
 * compile it; one that is inherited costs nothing.  So a thread that starts one exec-once child
 * after the other puts the filter on itself.  What it cannot do any more - a child of another kind,
 * a socket, a thread without the filter - a thread that has none does for it.
 */
#include "proc/thread.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc/seccomp.h"
#include "util/mem.h"

enum hold {
    OPEN,     /* no filter */
    WILLING,  /* none yet */
    HELD,     /* the one for exec_once and no_sockets */
    STRANDED, /* none, but no_new_privs: the kernel took only half */
};

static _Thread_local enum hold hold;

/* What the open thread is asked to do; on the stack of the thread that waits for it. */
struct errand {
    struct errand *next;
    void (*run)(void *payload);
    void *payload;
    bool done;
};

struct open_thread {
    pthread_mutex_t lock;
    pthread_cond_t asked, done;
    struct errand *first;
    bool is_there;
};

#define OPEN_THREAD_INIT                                                                           \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .asked = PTHREAD_COND_INITIALIZER,                      \
        .done = PTHREAD_COND_INITIALIZER                                                           \
    }

/* To start a child takes until its program is there, which nothing else is to wait for. */
static struct open_thread for_children = OPEN_THREAD_INIT, for_others = OPEN_THREAD_INIT;

static struct errand *next_errand(struct open_thread *open)
{
    struct errand *errand;

    while (!open->first)
        (void)pthread_cond_wait(&open->asked, &open->lock);
    errand = open->first;
    open->first = errand->next;
    return errand;
}

static void *run_errands(void *payload)
{
    struct open_thread *open = payload;

    (void)pthread_mutex_lock(&open->lock);
    for (;;) {
        struct errand *errand = next_errand(open);

        (void)pthread_mutex_unlock(&open->lock);
        errand->run(errand->payload);
        (void)pthread_mutex_lock(&open->lock);
        errand->done = true;
        (void)pthread_cond_broadcast(&open->done);
    }
    return NULL;
}

/* It lives as long as the process: the kernel ends the children it started with it. */
static bool start_open_thread(struct open_thread *open)
{
    sigset_t all, before;
    pthread_t thread;
    bool is_there;

    (void)pthread_mutex_lock(&open->lock);
    if (!open->is_there) {
        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        open->is_there = pthread_create(&thread, NULL, run_errands, open) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (open->is_there)
            (void)pthread_detach(thread);
    }
    is_there = open->is_there;
    (void)pthread_mutex_unlock(&open->lock);
    return is_there;
}

void al_proc_confine_thread(void)
{
#ifndef AL_SPAWN_FORK /* a thread sanitizer and valgrind know nothing of filters */
    if (hold == OPEN)
        hold = WILLING;
#endif
}

static void run_on(struct open_thread *open, void (*run)(void *payload), void *payload)
{
    struct errand errand = { .run = run, .payload = payload };
    struct errand **at;

    if (hold == OPEN || hold == WILLING) {
        run(payload);
        return;
    }
    (void)pthread_mutex_lock(&open->lock);
    for (at = &open->first; *at; at = &(*at)->next)
        continue;
    *at = &errand;
    (void)pthread_cond_signal(&open->asked);
    while (!errand.done)
        (void)pthread_cond_wait(&open->done, &open->lock);
    (void)pthread_mutex_unlock(&open->lock);
}

void al_proc_run_open(void (*run)(void *payload), void *payload)
{
    run_on(&for_others, run, payload);
}

void al_thread_start_open(void (*start)(void *payload), void *payload)
{
    run_on(&for_children, start, payload);
}

/* Where that does not work each child puts on its own. */
static void take_up(void)
{
    hold = OPEN;
    if (!start_open_thread(&for_children) || !start_open_thread(&for_others) ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return;
    hold = STRANDED;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, al_filter_get(true, true, false)) == 0)
        hold = HELD;
}

bool al_thread_holds_filter(const struct al_sandbox *sandbox)
{
    if (!sandbox->exec_once || !sandbox->no_sockets || sandbox->keep_setuid)
        return false;
    if (hold == WILLING)
        take_up();
    return hold == HELD;
}
