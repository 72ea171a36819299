// SPDX-License-Identifier: Apache-2.0
/*
 * Installing a filter costs each child a tenth of a millisecond, most of which the kernel spends
 * compiling it.  An inherited filter costs nothing, so a thread that starts many exec-once children
 * installs the filter on itself.  If each child installed it, a short git_status would take 4 %
 * longer.
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

enum filter_state {
    UNFILTERED,
    FILTER_PENDING,
    FILTER_ACTIVE, /* the filter for exec_once and no_sockets */
    FILTER_FAILED, /* no filter, but no_new_privs */
};

static _Thread_local enum filter_state filter_state;

/* A task for an unfiltered thread; on the stack of the thread that waits for it. */
struct task {
    struct task *next;
    void (*run)(void *payload);
    void *payload;
    bool done;
};

struct unfiltered_thread {
    pthread_mutex_t lock;
    pthread_cond_t has_task, done;
    struct task *first;
    bool is_running;
};

#define UNFILTERED_THREAD_INIT                                                                     \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .has_task = PTHREAD_COND_INITIALIZER,                   \
        .done = PTHREAD_COND_INITIALIZER                                                           \
    }

/* Starting a child blocks until its execve, so other tasks have a thread of their own. */
static struct unfiltered_thread for_children = UNFILTERED_THREAD_INIT,
                                for_others = UNFILTERED_THREAD_INIT;

static struct task *next_task(struct unfiltered_thread *thread)
{
    struct task *task;

    while (!thread->first)
        (void)pthread_cond_wait(&thread->has_task, &thread->lock);
    task = thread->first;
    thread->first = task->next;
    return task;
}

static void *run_tasks(void *payload)
{
    struct unfiltered_thread *thread = payload;

    (void)pthread_mutex_lock(&thread->lock);
    for (;;) {
        struct task *task = next_task(thread);

        (void)pthread_mutex_unlock(&thread->lock);
        task->run(task->payload);
        (void)pthread_mutex_lock(&thread->lock);
        task->done = true;
        (void)pthread_cond_broadcast(&thread->done);
    }
    return NULL;
}

/* The thread lives as long as the process: PR_SET_PDEATHSIG ends children with the thread that
 * started them. */
static bool start_unfiltered_thread(struct unfiltered_thread *thread)
{
    sigset_t all, before;
    pthread_t id;
    bool is_running;

    (void)pthread_mutex_lock(&thread->lock);
    if (!thread->is_running) {
        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        thread->is_running = pthread_create(&id, NULL, run_tasks, thread) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (thread->is_running)
            (void)pthread_detach(id);
    }
    is_running = thread->is_running;
    (void)pthread_mutex_unlock(&thread->lock);
    return is_running;
}

void al_proc_confine_thread(void)
{
#ifndef AL_SPAWN_FORK /* the thread sanitizer and valgrind do not work under the filter */
    if (filter_state == UNFILTERED)
        filter_state = FILTER_PENDING;
#endif
}

static void run_on(struct unfiltered_thread *thread, void (*run)(void *payload), void *payload)
{
    struct task task = { .run = run, .payload = payload };
    struct task **at;

    if (filter_state == UNFILTERED || filter_state == FILTER_PENDING) {
        run(payload);
        return;
    }
    (void)pthread_mutex_lock(&thread->lock);
    for (at = &thread->first; *at; at = &(*at)->next)
        continue;
    *at = &task;
    (void)pthread_cond_signal(&thread->has_task);
    while (!task.done)
        (void)pthread_cond_wait(&thread->done, &thread->lock);
    (void)pthread_mutex_unlock(&thread->lock);
}

void al_proc_run_unfiltered(void (*run)(void *payload), void *payload)
{
    run_on(&for_others, run, payload);
}

void al_thread_start_unfiltered(void (*start)(void *payload), void *payload)
{
    run_on(&for_children, start, payload);
}

/* If this fails, each child installs the filter itself. */
static void install_filter(void)
{
    static const struct al_confinement both = { .exec_once = true, .no_sockets = true };

    filter_state = UNFILTERED;
    if (!start_unfiltered_thread(&for_children) || !start_unfiltered_thread(&for_others) ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return;
    filter_state = FILTER_FAILED;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, al_filter_get(&both)) == 0)
        filter_state = FILTER_ACTIVE;
}

bool al_thread_holds_filter(const struct al_confinement *sandbox)
{
    if (!sandbox->exec_once || !sandbox->no_sockets || sandbox->keep_setuid)
        return false;
    if (filter_state == FILTER_PENDING)
        install_filter();
    return filter_state == FILTER_ACTIVE;
}
