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
    OPEN,    /* no filter */
    WILLING, /* none yet */
    HELD,    /* the one for exec_once and no_sockets */
};

static _Thread_local enum hold hold;

/* What the open thread is asked to do; on the stack of the thread that waits for it. */
struct errand {
    struct errand *next;
    void (*run)(void *payload);
    void *payload;
    bool done;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t asked, done;
    struct errand *first;
    bool is_there;
} open_thread = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .asked = PTHREAD_COND_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
};

static struct errand *next_errand(void)
{
    struct errand *errand;

    while (!open_thread.first)
        (void)pthread_cond_wait(&open_thread.asked, &open_thread.lock);
    errand = open_thread.first;
    open_thread.first = errand->next;
    return errand;
}

static void *run_errands(void *payload)
{
    (void)payload;
    (void)pthread_mutex_lock(&open_thread.lock);
    for (;;) {
        struct errand *errand = next_errand();

        (void)pthread_mutex_unlock(&open_thread.lock);
        errand->run(errand->payload);
        (void)pthread_mutex_lock(&open_thread.lock);
        errand->done = true;
        (void)pthread_cond_broadcast(&open_thread.done);
    }
    return NULL;
}

/* It lives as long as the process, and so do no longer than they should the children it starts:
 * the kernel ends them with it. */
static bool start_open_thread(void)
{
    sigset_t all, before;
    pthread_t thread;

    (void)pthread_mutex_lock(&open_thread.lock);
    if (!open_thread.is_there) {
        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        open_thread.is_there = pthread_create(&thread, NULL, run_errands, NULL) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (open_thread.is_there)
            (void)pthread_detach(thread);
    }
    (void)pthread_mutex_unlock(&open_thread.lock);
    return open_thread.is_there;
}

void al_proc_confine_thread(void)
{
#ifndef AL_SPAWN_FORK /* a thread sanitizer and valgrind know nothing of filters */
    if (hold == OPEN)
        hold = WILLING;
#endif
}

void al_proc_run_open(void (*run)(void *payload), void *payload)
{
    struct errand errand = { .run = run, .payload = payload };
    struct errand **at;

    if (hold != HELD) {
        run(payload);
        return;
    }
    (void)pthread_mutex_lock(&open_thread.lock);
    for (at = &open_thread.first; *at; at = &(*at)->next)
        continue;
    *at = &errand;
    (void)pthread_cond_signal(&open_thread.asked);
    while (!errand.done)
        (void)pthread_cond_wait(&open_thread.done, &open_thread.lock);
    (void)pthread_mutex_unlock(&open_thread.lock);
}

/* A thread that cannot take it up stays as it is, and each of its children puts on its own. */
static void take_up(void)
{
    hold = OPEN;
    if (!start_open_thread() || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, al_filter_get(true, true, false)) < 0)
        return;
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
