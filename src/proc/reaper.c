// SPDX-License-Identifier: Apache-2.0
#include "proc/reaper.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "proc/proc.h"

/* The least time between two sweeps after exec-once children.  A sweep after each of them makes 64
 * short calls at once take 30 % longer. */
#define SWEEP_INTERVAL_MS 500

/* Writers first: sweeps are rare, and a steady flow of starts would keep one waiting for ever. */
static pthread_rwlock_t sweep_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER; /* guards `children` */
static struct al_child *children;
static struct al_pids preexisting;         /* children from before al_reaper_init() */
static atomic_int_least64_t last_sweep_ms; /* when the last sweep began */

static void add_children(struct al_pids *pids, pid_t parent)
{
    size_t before = pids->count;

    if (al_pids_add_listed(pids, parent))
        return;
    pids->count = before;
    al_pids_add_scanned(pids, parent);
}

void al_reaper_init(void)
{
    al_pids_clear(&preexisting);
    add_children(&preexisting, getpid());
}

void al_children_lock(void)
{
    pthread_rwlock_rdlock(&sweep_lock);
}

void al_children_unlock(void)
{
    pthread_rwlock_unlock(&sweep_lock);
}

void al_children_add(struct al_child *child)
{
    pthread_mutex_lock(&list_mutex);
    child->next = children;
    children = child;
    pthread_mutex_unlock(&list_mutex);
}

static bool is_listed(pid_t pid)
{
    bool found = false;

    pthread_mutex_lock(&list_mutex);
    for (const struct al_child *child = children; child && !found; child = child->next)
        found = child->pid == pid;
    pthread_mutex_unlock(&list_mutex);
    return found;
}

/* Wait for a process to end, or until the time is over. */
static void wait_for_end(int pidfd, int64_t until_ms)
{
    struct pollfd wait = { .fd = pidfd, .events = POLLIN };
    int64_t left_ms;

    while ((left_ms = until_ms - al_clock_ms()) > 0)
        if (poll(&wait, 1, (int)left_ms) > 0)
            return;
}

/* Wait for an adopted child, and reap it if it has ended. */
static void wait_and_reap(pid_t pid, int64_t until_ms)
{
    al_auto(al_closep) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (pidfd < 0)
        return;
    wait_for_end(pidfd, until_ms);
    (void)waitid(P_PIDFD, (id_t)pidfd, NULL, WEXITED | WNOHANG);
}

/*
 * A git may end before the gits that it started.  Those got SIGTERM too and may still be removing
 * their lock files; they are adopted, and still in its session.
 */
static void wait_for_session(pid_t session, int64_t until_ms)
{
    bool found;

    do {
        al_auto(al_pids_clear) struct al_pids pids = { .items = NULL };

        found = false;
        add_children(&pids, getpid());
        for (size_t i = 0; i < pids.count; i++) {
            if (pids.items[i] == session || getsid(pids.items[i]) != session)
                continue;
            wait_and_reap(pids.items[i], until_ms);
            found = true;
        }
    } while (found && al_clock_ms() < until_ms);
}

void al_child_kill(const struct al_child *child)
{
    int64_t until_ms = al_clock_ms() + child->grace_ms;

    if (child->grace_ms && kill(-child->pid, SIGTERM) == 0) {
        wait_for_end(child->pidfd, until_ms);
        wait_for_session(child->pid, until_ms);
    }
    (void)kill(-child->pid, SIGKILL);
}

/*
 * Kill orphans and all their descendants, and reap the orphans.  True: there was one.
 *
 * A parent is killed before its children are looked up, so that it cannot fork again.  Descendants
 * are known by number only; a number could be reused only if the whole range of process ids went
 * round between the look-up and the kill.
 */
static bool kill_orphans_once(void)
{
    al_auto(al_pids_clear) struct al_pids pids = { .items = NULL };
    size_t norphans = 0;

    add_children(&pids, getpid());
    for (size_t i = 0; i < pids.count; i++) {
        const pid_t pid = pids.items[i];

        if (al_pids_contain(&preexisting, pid) || is_listed(pid))
            continue;
        if (!is_listed(getsid(pid)))
            pids.items[norphans++] = pid;
        else /* it is adopted, and left to the end of the child whose session it is in */
            (void)waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOHANG | __WALL);
    }
    pids.count = norphans;
    for (size_t i = 0; i < pids.count; i++) {
        (void)kill(pids.items[i], SIGKILL);
        add_children(&pids, pids.items[i]);
    }
    for (size_t i = 0; i < norphans; i++)
        (void)waitid(P_PID, (id_t)pids.items[i], NULL, WEXITED | __WALL);
    return norphans > 0;
}

/* Descendants that were killed are adopted now, and are the orphans of the next round. */
static void sweep(void)
{
    pthread_rwlock_wrlock(&sweep_lock);
    atomic_store(&last_sweep_ms, al_clock_ms());
    while (kill_orphans_once())
        continue;
    pthread_rwlock_unlock(&sweep_lock);
}

/*
 * Whether it is time to look for orphans, now that a child was reaped.
 *
 * The kernel lets an exec-once child start no process, so it leaves none; what other children lost
 * is looked for now and then.
 */
static bool is_sweep_due(bool exec_once)
{
    siginfo_t info;

    if (exec_once && al_clock_ms() - atomic_load(&last_sweep_ms) < SWEEP_INTERVAL_MS)
        return false;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

void al_child_end(struct al_child *child, bool exec_once, siginfo_t *ret_info)
{
    const id_t pidfd = (id_t)child->pidfd;
    struct al_child **at = &children;

    (void)waitid(P_PIDFD, pidfd, ret_info, WEXITED | WNOWAIT);

    /* The number of the child's process group cannot be reused while the child is a zombie. */
    pthread_rwlock_rdlock(&sweep_lock);
    (void)kill(-child->pid, SIGKILL);
    pthread_mutex_lock(&list_mutex);
    (void)waitid(P_PIDFD, pidfd, ret_info, WEXITED);
    while (*at != child)
        at = &(*at)->next;
    *at = child->next;
    pthread_mutex_unlock(&list_mutex);
    pthread_rwlock_unlock(&sweep_lock);

    if (is_sweep_due(exec_once))
        sweep();
}

void al_proc_kill_all(void)
{
    al_auto(al_pids_clear) struct al_pids pids = { .items = NULL };
    uint32_t grace_ms = 0;
    int64_t until_ms;

    /* The exclusive lock means that every child that was started is registered, and none is reaped:
     * the list stays as it is. */
    pthread_rwlock_wrlock(&sweep_lock);
    for (const struct al_child *child = children; child; child = child->next) {
        (void)kill(-child->pid, child->grace_ms ? SIGTERM : SIGKILL);
        if (child->grace_ms > grace_ms)
            grace_ms = child->grace_ms;
    }
    until_ms = al_clock_ms() + grace_ms;
    for (const struct al_child *child = children; child; child = child->next) {
        if (child->grace_ms)
            wait_for_end(child->pidfd, until_ms);
        wait_for_session(child->pid, until_ms);
        (void)kill(-child->pid, SIGKILL);
    }
    add_children(&pids, getpid());
    for (size_t i = 0; i < pids.count; i++) {
        if (al_pids_contain(&preexisting, pids.items[i]))
            continue;
        (void)kill(pids.items[i], SIGKILL);
        add_children(&pids, pids.items[i]);
    }
    pthread_rwlock_unlock(&sweep_lock);
}
