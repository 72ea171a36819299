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

struct watch {
    struct al_cancel *cancel;
    sigset_t set;
};

/* Held by whoever looks at the session, and for good by a thread that ends the process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct al_setup *watched; /* NULL: there is none any more */
static atomic_int caught;              /* the signal that cancelled the call, 0: none */

/* A thread of its own: what has to be done then is not for a signal handler. */
static void *wait_for_signals(void *payload)
{
    struct watch *watch = payload;
    int number;

    while (sigwait(&watch->set, &number) == 0) {
        if (watch->cancel && !al_cancel_fired(watch->cancel)) {
            atomic_store(&caught, number);
            al_cancel_fire(watch->cancel);
            continue;
        }
        (void)pthread_mutex_lock(&lock);
        al_proc_kill_all();
        if (watched)
            al_git_abandon(watched->session.git);
        _exit(128 + number);
    }
    return NULL;
}

void al_signals_handle(const struct al_setup *setup, struct al_cancel *cancel)
{
    struct watch *watch = al_calloc(1, sizeof(*watch)); /* lives as long as the process */
    pthread_t thread;

    watched = setup; /* before there is a thread to see it */
    watch->cancel = cancel;
    (void)sigemptyset(&watch->set);
    (void)sigaddset(&watch->set, SIGINT);
    (void)sigaddset(&watch->set, SIGTERM);
    (void)sigaddset(&watch->set, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &watch->set, NULL);
    if (pthread_create(&thread, NULL, wait_for_signals, watch) == 0)
        (void)pthread_detach(thread);
    else
        free(watch);
}

int al_signals_caught(void)
{
    return atomic_load(&caught);
}

void al_signals_forget(void)
{
    (void)pthread_mutex_lock(&lock);
    watched = NULL;
    (void)pthread_mutex_unlock(&lock);
}
