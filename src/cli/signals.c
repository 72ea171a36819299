// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "git/repo/git.h"
#include "proc/proc.h"
#include "review/server.h"

/* Guards handled_setup.  The thread that ends the process keeps it locked. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct al_setup *handled_setup; /* NULL: the session is released */
static atomic_int caught_signal;             /* the signal that cancelled the call; 0: none */

/* Of the thread, which a process starts once. */
static struct al_cancel *call_cancel;
static sigset_t awaited;

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

/* The first so many of them. */
static void make_set(sigset_t *ret_set, size_t count)
{
    (void)sigemptyset(ret_set);
    for (size_t i = 0; i < count; i++)
        (void)sigaddset(ret_set, ending[i]);
}

/* The descriptor of the session's questions; -1: there is none. */
static int review_fd(void)
{
    int fd;

    (void)pthread_mutex_lock(&lock);
    fd = handled_setup && handled_setup->review_server
             ? al_review_server_fd(handled_setup->review_server)
             : -1;
    (void)pthread_mutex_unlock(&lock);
    return fd;
}

/* Wait for a signal, and answer airlock review meanwhile: it so needs no thread of its own, and
 * none of its peers can keep a signal waiting.  False: no signal can be waited for. */
static bool await_signal(const sigset_t *set, int signal_fd, int *ret_number)
{
    struct pollfd wait[2] = { { .fd = signal_fd, .events = POLLIN }, { .events = POLLIN } };
    struct signalfd_siginfo info;

    if (signal_fd < 0)
        return sigwait(set, ret_number) == 0;
    for (;;) {
        wait[1].fd = review_fd();
        if (poll(wait, AL_COUNT(wait), -1) < 0)
            continue;
        (void)pthread_mutex_lock(&lock);
        if (wait[1].revents && handled_setup && handled_setup->review_server)
            al_review_server_run(handled_setup->review_server);
        (void)pthread_mutex_unlock(&lock);
        if ((wait[0].revents & POLLIN) && read(signal_fd, &info, sizeof(info)) == sizeof(info)) {
            *ret_number = (int)info.ssi_signo;
            return true;
        }
    }
}

/* A thread, since the cleanup is not async-signal-safe (signal-safety(7)). */
static void *wait_for_signals(void *payload)
{
    const int signal_fd = signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK);
    int number;

    (void)payload;
    while (await_signal(&awaited, signal_fd, &number)) {
        if (call_cancel && !al_cancel_fired(call_cancel)) {
            atomic_store(&caught_signal, number);
            al_cancel_fire(call_cancel);
            continue;
        }
        (void)pthread_mutex_lock(&lock);
        al_proc_kill_all();
        if (handled_setup && handled_setup->review_server)
            al_review_server_remove(handled_setup->review_server);
        if (handled_setup)
            al_git_abandon(handled_setup->session.git);
        _exit(128 + number);
    }
    return NULL;
}

static void start_thread(const struct al_setup *setup, struct al_cancel *cancel, size_t signals)
{
    pthread_t thread;

    handled_setup = setup; /* before the thread starts */
    call_cancel = cancel;
    make_set(&awaited, signals);
    if (pthread_create(&thread, NULL, wait_for_signals, NULL) == 0)
        (void)pthread_detach(thread);
}

void al_signals_block(const struct al_setup *setup)
{
    sigset_t set;

    make_set(&set, AL_COUNT(ending));
    handled_setup = setup;
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int al_signals_wait(void)
{
    al_auto(al_closep) int signal_fd = -1;
    sigset_t set;
    int number = 0;

    make_set(&set, AL_COUNT(ending));
    signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return await_signal(&set, signal_fd, &number) ? number : SIGTERM;
}

void al_signals_handle(const struct al_setup *setup, struct al_cancel *cancel)
{
    al_signals_block(setup);
    start_thread(setup, cancel, AL_COUNT(ending));
}

void al_signals_handle_end(const struct al_setup *setup)
{
    start_thread(setup, NULL, AL_COUNT(ending) - 1);
}

void al_signals_leave(const struct al_setup *setup)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* for the thread */
    start_thread(setup, NULL, 0);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
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
