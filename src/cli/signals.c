// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/setup.h"
#include "gitops/repo/git.h"
#include "proc/proc.h"

struct signal_thread {
    struct al_cancel *cancel;
    sigset_t set;
};

/* Guards handled_setup.  The thread that ends the process keeps it locked. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct al_setup *handled_setup; /* NULL: the session is released */
static atomic_int caught_signal;             /* the signal that cancelled the call; 0: none */

/* A thread, since the cleanup is not async-signal-safe (signal-safety(7)). */
static void *wait_for_signals(void *payload)
{
    struct signal_thread *args = payload;
    int number;

    while (sigwait(&args->set, &number) == 0) {
        if (args->cancel && !al_cancel_fired(args->cancel)) {
            atomic_store(&caught_signal, number);
            al_cancel_fire(args->cancel);
            continue;
        }
        (void)pthread_mutex_lock(&lock);
        al_proc_kill_all();
        if (handled_setup)
            al_git_abandon(handled_setup->session.git);
        _exit(128 + number);
    }
    return NULL;
}

void al_signals_handle(const struct al_setup *setup, struct al_cancel *cancel)
{
    struct signal_thread *args = al_calloc(1, sizeof(*args)); /* lives as long as the process */
    pthread_t thread;

    handled_setup = setup; /* before the thread starts */
    args->cancel = cancel;
    (void)sigemptyset(&args->set);
    (void)sigaddset(&args->set, SIGINT);
    (void)sigaddset(&args->set, SIGTERM);
    (void)sigaddset(&args->set, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &args->set, NULL);
    if (pthread_create(&thread, NULL, wait_for_signals, args) == 0)
        (void)pthread_detach(thread);
    else
        free(args);
}

int al_signals_caught(void)
{
    return atomic_load(&caught_signal);
}

void al_signals_forget(void)
{
    (void)pthread_mutex_lock(&lock);
    handled_setup = NULL;
    (void)pthread_mutex_unlock(&lock);
}
