// SPDX-License-Identifier: Apache-2.0
#include "proc/strays.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/proc.h"
#include "util/mem.h"

/* Writers first: sweeps are rare, and starts would otherwise keep one waiting for ever. */
static pthread_rwlock_t order = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* the list */
static struct al_running *running;
static struct al_pids others; /* children from before the start; never touched */

/* Kernels without CONFIG_PROC_CHILDREN have no lists to read. */
static void add_children(struct al_pids *pids, pid_t parent)
{
    size_t before = pids->count;

    if (al_pids_add_listed(pids, parent))
        return;
    pids->count = before;
    al_pids_add_scanned(pids, parent);
}

void al_strays_init(void)
{
    al_pids_clear(&others);
    add_children(&others, getpid());
}

void al_running_open(void)
{
    pthread_rwlock_rdlock(&order);
}

void al_running_close(void)
{
    pthread_rwlock_unlock(&order);
}

void al_running_enter(struct al_running *child)
{
    pthread_mutex_lock(&mutex);
    child->previous = NULL;
    child->next = running;
    if (running)
        running->previous = child;
    running = child;
    pthread_mutex_unlock(&mutex);
}

/* Under the mutex. */
static void leave(struct al_running *child)
{
    if (child->previous)
        child->previous->next = child->next;
    else
        running = child->next;
    if (child->next)
        child->next->previous = child->previous;
}

static bool is_running(pid_t pid)
{
    bool found = false;

    pthread_mutex_lock(&mutex);
    for (const struct al_running *child = running; child && !found; child = child->next)
        found = child->pid == pid;
    pthread_mutex_unlock(&mutex);
    return found;
}

void al_running_kill(const struct al_running *child)
{
    (void)kill(-child->pid, SIGKILL);
}

/*
 * A process that lost its parent but stayed in the session of a child at work belongs to that
 * child, and is left to its end.
 */
static bool is_stray(pid_t pid)
{
    return !al_pids_contain(&others, pid) && !is_running(pid) && !is_running(getsid(pid));
}

/*
 * Kills strays with all their descendants and reaps the strays; true when there was one.  Parents
 * are killed before their children are looked up, so that they cannot fork once more.  Descendants
 * are known by number only, which could be taken over only if the whole range of numbers went
 * round between the look and the kill.
 */
static bool kill_strays_once(void)
{
    al_auto(al_pids_clear) struct al_pids pids = { .items = NULL };
    size_t strays = 0;

    add_children(&pids, getpid());
    for (size_t i = 0; i < pids.count; i++) {
        if (is_stray(pids.items[i]))
            pids.items[strays++] = pids.items[i];
    }
    pids.count = strays;
    for (size_t i = 0; i < pids.count; i++) {
        (void)kill(pids.items[i], SIGKILL);
        add_children(&pids, pids.items[i]);
    }
    for (size_t i = 0; i < strays; i++)
        (void)waitid(P_PID, (id_t)pids.items[i], NULL, WEXITED | __WALL);
    return strays > 0;
}

/* Each round's orphans become our children, and strays of the next round. */
static void sweep(void)
{
    pthread_rwlock_wrlock(&order);
    while (kill_strays_once())
        continue;
    pthread_rwlock_unlock(&order);
}

/* Whether anything may be left once the child itself is reaped; wrong only on the safe side. */
static bool may_have_left_strays(pid_t group, bool own_group)
{
    siginfo_t info;

    if (own_group)
        return kill(-group, 0) == 0;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

void al_running_end(struct al_running *child, bool own_group, siginfo_t *ret_info)
{
    const id_t pidfd = (id_t)child->pidfd;

    (void)waitid(P_PIDFD, pidfd, ret_info, WEXITED | WNOWAIT);

    /* While it is a zombie its number, and so its group's, cannot belong to anybody else. */
    pthread_rwlock_rdlock(&order);
    al_running_kill(child);
    pthread_mutex_lock(&mutex);
    (void)waitid(P_PIDFD, pidfd, ret_info, WEXITED);
    leave(child);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_unlock(&order);

    if (may_have_left_strays(child->pid, own_group))
        sweep();
}

void al_proc_kill_all(void)
{
    al_auto(al_pids_clear) struct al_pids pids = { .items = NULL };

    pthread_mutex_lock(&mutex);
    for (const struct al_running *child = running; child; child = child->next)
        al_running_kill(child);
    pthread_mutex_unlock(&mutex);

    add_children(&pids, getpid());
    for (size_t i = 0; i < pids.count; i++) {
        if (al_pids_contain(&others, pids.items[i]))
            continue;
        (void)kill(pids.items[i], SIGKILL);
        add_children(&pids, pids.items[i]);
    }
}
