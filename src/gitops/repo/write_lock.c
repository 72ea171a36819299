// SPDX-License-Identifier: Apache-2.0
#include "gitops/repo/write_lock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "gitops/git_lock.h"
#include "gitops/layer.h"
#include "gitops/repo/repo.h"
#include "gitops/repo/shared_lock.h"
#include "util/clock.h"

/** The user is told once about a wait that is longer. */
#define TELL_AFTER_MS 1000

/** Another git may take its lock again each time; after so many the turn is kept. */
#define ROUNDS_MAX 16

static bool is_first(const struct al_git *git, const struct al_write_lock *mine)
{
    for (const struct al_write_lock *at = git->write_locks; at != mine; at = at->next)
        if (!strcmp(at->common_dir, mine->common_dir))
            return false;
    return true;
}

static void enqueue(struct al_git *git, struct al_write_lock *lock)
{
    struct al_write_lock **end = &git->write_locks;

    while (*end)
        end = &(*end)->next;
    *end = lock;
}

/* Remove a lock from the list, wake the next writer of that repository, and free the lock. */
static void release(struct al_git *git, struct al_write_lock *lock)
{
    al_shared_lock_release(lock->shared_fd);
    (void)pthread_mutex_lock(&git->lock);
    for (struct al_write_lock **at = &git->write_locks; *at; at = &(*at)->next) {
        if (*at == lock) {
            *at = lock->next;
            break;
        }
    }
    for (struct al_write_lock *at = git->write_locks; at; at = at->next) {
        if (!strcmp(at->common_dir, lock->common_dir)) {
            (void)eventfd_write(at->ready_fd, 1);
            break;
        }
    }
    (void)pthread_mutex_unlock(&git->lock);
    al_close(lock->ready_fd);
    free(lock);
}

static int cancelled(struct al_error *err)
{
    return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
}

/* With the al_git's lock held.  The first lock of a repository, which is the one that is held. */
static const struct al_write_lock *holder_of(const struct al_git *git, const char *common_dir)
{
    const struct al_write_lock *at = git->write_locks;

    while (strcmp(at->common_dir, common_dir) != 0)
        at = at->next;
    return at;
}

/* With the al_git's lock held.  The lock that the holder of `held` waits for; NULL: none. */
static const struct al_write_lock *waiter_holding(const struct al_git *git,
                                                  const struct al_write_lock *held)
{
    const struct al_write_lock *at = git->write_locks;

    while (at && at->held != held)
        at = at->next;
    return at;
}

/* With the al_git's lock held.  Whether waiting would be a deadlock: the chain of holders and
 * waiters leads back to the lock we hold.  Only the last arrival can close a cycle, so there is
 * none among the others. */
static bool would_deadlock(const struct al_git *git, const struct al_write_lock *mine)
{
    const struct al_write_lock *at = mine->held ? mine : NULL;

    while (at) {
        const struct al_write_lock *holder = holder_of(git, at->common_dir);

        if (holder == mine->held)
            return true;
        at = waiter_holding(git, holder);
    }
    return false;
}

static int deadlock_error(struct al_error *err)
{
    int r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                              "The other repository is busy with a push that waits for this one");

    if (err)
        err->remedy = "Nothing was pushed; try again.";
    return r;
}

/* Wait until the lock is the first in the list, and tell the user once after TELL_AFTER_MS. */
static int wait_for_turn(struct al_git *git, struct al_write_lock *lock,
                         struct al_run_limits *budget, struct al_error *err)
{
    bool first = false, tells = budget->on_lock_wait.report, told = false;
    struct pollfd wait[2] = {
        { .fd = lock->ready_fd, .events = POLLIN },
        { .fd = al_cancel_fd(budget->cancel), .events = POLLIN },
    };

    while (!first && !al_cancel_fired(budget->cancel)) {
        if (poll(wait, 2, tells && !told ? TELL_AFTER_MS : -1) == 0) {
            al_auto(al_freep) char *line = al_shared_lock_waiting(git->lock_dir, lock->common_dir);

            budget->on_lock_wait.report(budget->on_lock_wait.payload, line);
            told = true;
        }
        (void)pthread_mutex_lock(&git->lock);
        first = is_first(git, lock);
        (void)pthread_mutex_unlock(&git->lock);
    }
    if (told) /* what was said is over */
        budget->on_lock_wait.report(budget->on_lock_wait.payload, NULL);
    return al_cancel_fired(budget->cancel) ? cancelled(err) : 0;
}

/* Wait for the write lock.  `held` is the lock the caller holds already; NULL: none. */
static int acquire(struct al_repo *repo, const struct al_write_lock *held,
                   struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_closep) int ready_fd = eventfd(0, EFD_CLOEXEC);
    struct al_git *git = repo->at.git;
    struct al_write_lock *lock;
    bool first, deadlock;
    int r = 0;

    /* Without the eventfd nothing could wake this writer. */
    if (ready_fd < 0)
        return al_error_errno(err, errno, "cannot wait for the write lock");
    lock = al_calloc(1, sizeof(*lock));
    lock->common_dir = repo->at.common_dir;
    lock->ready_fd = al_take_fd(&ready_fd);
    lock->shared_fd = -1;
    lock->held = held;
    (void)pthread_mutex_lock(&git->lock);
    enqueue(git, lock);
    first = is_first(git, lock);
    deadlock = would_deadlock(git, lock);
    (void)pthread_mutex_unlock(&git->lock);
    if (deadlock) {
        release(git, lock);
        return deadlock_error(err);
    }
    if (!first)
        r = wait_for_turn(git, lock, budget, err);
    if (r == 0 && !repo->at.is_own)
        r = al_shared_lock_acquire(git->lock_dir, lock->common_dir, budget, &lock->shared_fd, err);
    if (r < 0) {
        release(git, lock);
        return r;
    }
    repo->write_lock = lock;
    return 0;
}

int al_write_lock_acquire(struct al_repo *repo, struct al_run_limits *budget, struct al_error *err)
{
    return acquire(repo, NULL, budget, err);
}

int al_write_lock_acquire_other(struct al_repo *other, const struct al_repo *own,
                                struct al_run_limits *budget, struct al_error *err)
{
    if (!strcmp(other->at.common_dir, own->at.common_dir))
        return 0;
    return acquire(other, own->write_lock, budget, err);
}

int al_write_lock_acquire_with(struct al_repo *repo, unsigned locks, struct al_run_limits *budget,
                               struct al_error *err)
{
    int r = al_write_lock_acquire(repo, budget, err);

    for (int round = 0; r == 0 && al_git_lock_exists(&repo->at, locks); round++) {
        bool keeps = round == ROUNDS_MAX;

        if (!keeps)
            al_write_lock_release(repo);
        r = al_git_lock_wait(&repo->at, locks, budget, err);
        if (r < 0)
            al_write_lock_release(repo);
        else if (!keeps)
            r = al_write_lock_acquire(repo, budget, err);
        if (keeps)
            break;
    }
    return r;
}

int al_write_lock_acquire_with_index(struct al_repo *repo, struct al_run_limits *budget,
                                     struct al_error *err)
{
    return al_write_lock_acquire_with(repo, AL_LOCK_INDEX, budget, err);
}

void al_write_lock_release(struct al_repo *repo)
{
    if (repo && repo->write_lock)
        release(repo->at.git, al_take(&repo->write_lock));
}
