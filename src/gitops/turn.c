// SPDX-License-Identifier: Apache-2.0
/*
 * Writers of one repository, one at a time, first come first served; and the wait for an index.lock
 * that somebody else holds.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/private.h"
#include "gitops/repo.h"
#include "gitops/stale.h"
#include "util/clock.h"

/** A lock that is held for longer is worth a word. */
#define TELL_AFTER_MS 1000

static bool is_first(const struct al_git *git, const struct al_turn *mine)
{
    for (const struct al_turn *at = git->turns; at != mine; at = at->next)
        if (!strcmp(at->common_dir, mine->common_dir))
            return false;
    return true;
}

static void append(struct al_git *git, struct al_turn *turn)
{
    struct al_turn **end = &git->turns;

    while (*end)
        end = &(*end)->next;
    *end = turn;
}

/* Take a turn off the list and wake whoever is first now. */
static void leave(struct al_git *git, struct al_turn *turn)
{
    (void)pthread_mutex_lock(&git->lock);
    for (struct al_turn **at = &git->turns; *at; at = &(*at)->next) {
        if (*at == turn) {
            *at = turn->next;
            break;
        }
    }
    for (struct al_turn *at = git->turns; at; at = at->next) {
        if (!strcmp(at->common_dir, turn->common_dir)) {
            (void)eventfd_write(at->ready_fd, 1);
            break;
        }
    }
    (void)pthread_mutex_unlock(&git->lock);
    al_close(turn->ready_fd);
    free(turn);
}

static int cancelled(struct al_error *err)
{
    return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
}

/* Called with the lock held: who has the turn of a repository that somebody waits for. */
static const struct al_turn *holder_of(const struct al_git *git, const char *common_dir)
{
    const struct al_turn *at = git->turns;

    while (strcmp(at->common_dir, common_dir) != 0)
        at = at->next;
    return at;
}

/* Called with the lock held: what the holder of a turn waits for besides, NULL: nothing. */
static const struct al_turn *waiting_with(const struct al_git *git, const struct al_turn *held)
{
    const struct al_turn *at = git->turns;

    while (at && at->held != held)
        at = at->next;
    return at;
}

/* Called with the lock held: whether the turn we have is what those before us wait for.  A circle
 * can only close with the one who comes last, so that there is none among the others. */
static bool closes_circle(const struct al_git *git, const struct al_turn *mine)
{
    const struct al_turn *at = mine->held ? mine : NULL;

    while (at) {
        const struct al_turn *holder = holder_of(git, at->common_dir);

        if (holder == mine->held)
            return true;
        at = waiting_with(git, holder);
    }
    return false;
}

static int would_never_end(struct al_error *err)
{
    int r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                              "The other repository is busy with a push that waits for this one");

    if (err)
        err->remedy = "Nothing was pushed; try again.";
    return r;
}

/* Wait for a turn; `held` is the one the caller has already, NULL: none. */
static int begin(struct al_repo *repo, const struct al_turn *held, struct al_cancel *cancel,
                 struct al_error *err)
{
    al_auto(al_closep) int ready_fd = eventfd(0, EFD_CLOEXEC);
    struct al_git *git = repo->git;
    struct al_turn *turn;
    bool first, circle;

    /* Without it nobody could be told that the turn has come. */
    if (ready_fd < 0)
        return al_error_errno(err, errno, "cannot wait for a turn");
    turn = al_calloc(1, sizeof(*turn));
    turn->common_dir = repo->common_dir;
    turn->ready_fd = al_take_fd(&ready_fd);
    turn->held = held;
    (void)pthread_mutex_lock(&git->lock);
    append(git, turn);
    first = is_first(git, turn);
    circle = closes_circle(git, turn);
    (void)pthread_mutex_unlock(&git->lock);
    if (circle) {
        leave(git, turn);
        return would_never_end(err);
    }
    while (!first) {
        struct pollfd wait[2] = {
            { .fd = turn->ready_fd, .events = POLLIN },
            { .fd = al_cancel_fd(cancel), .events = POLLIN },
        };

        (void)poll(wait, 2, -1);
        if (al_cancel_fired(cancel)) {
            leave(git, turn);
            return cancelled(err);
        }
        (void)pthread_mutex_lock(&git->lock);
        first = is_first(git, turn);
        (void)pthread_mutex_unlock(&git->lock);
    }
    repo->turn = turn;
    return 0;
}

int al_repo_begin_turn(struct al_repo *repo, struct al_cancel *cancel, struct al_error *err)
{
    return begin(repo, NULL, cancel, err);
}

int al_repo_begin_turn_beside(struct al_repo *other, const struct al_repo *own,
                              struct al_cancel *cancel, struct al_error *err)
{
    if (!strcmp(other->common_dir, own->common_dir))
        return 0;
    return begin(other, own->turn, cancel, err);
}

int al_repo_begin_write(struct al_repo *repo, struct al_budget *budget, struct al_error *err)
{
    int r = al_repo_begin_turn(repo, budget->cancel, err);

    if (r < 0)
        return r;
    r = al_repo_wait_index_lock(repo, budget, err);
    if (r < 0)
        al_repo_end_write(repo);
    return r;
}

void al_repo_end_write(struct al_repo *repo)
{
    if (repo && repo->turn)
        leave(repo->git, al_take(&repo->turn));
}

static int lock_timeout(const char *path, struct al_error *err)
{
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                             "Another git process holds %s; wait for it to end, or remove the file "
                             "if none runs",
                             strrchr(path, '/') + 1);
}

/* Nobody will ever remove it, so waiting is for nothing.  It is the user's, and stays. */
static int left_over(const char *path, struct al_error *err)
{
    int r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                              "%s is stale: it is older than %d s, no process has it open, and no "
                              "git works in the repository",
                              strrchr(path, '/') + 1, AL_STALE_AFTER_S);

    if (err)
        err->remedy = "It is left over from a git that was killed. airlock removes no lock: a "
                      "person deletes the file index.lock in the git directory.";
    return r;
}

/* Wait for something to happen, and say once what is waited for.  Gives poll(2)'s value. */
static int wait_and_tell(struct pollfd wait[2], int64_t left_ms, struct al_budget *budget,
                         bool *told)
{
    int n = poll(wait, 2, (int)(*told || left_ms < TELL_AFTER_MS ? left_ms : TELL_AFTER_MS));

    if (n == 0 && !*told) {
        budget->waits("waiting for index.lock, which another git process holds");
        *told = true;
    }
    return n;
}

int al_repo_wait_index_lock(struct al_repo *repo, struct al_budget *budget, struct al_error *err)
{
    al_auto(al_freep) char *path = al_fs_join(repo->git_dir, "index.lock");
    int64_t deadline = al_clock_ms() + budget->left_ms;
    al_auto(al_closep) int watch = -1;
    bool told = !budget->waits;
    struct stat st;

    if (lstat(path, &st) < 0)
        return 0;
    if (al_git_lock_is_stale(repo, &st))
        return left_over(path, err);
    watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch < 0 || inotify_add_watch(watch, repo->git_dir, IN_DELETE | IN_MOVED_FROM) < 0)
        return lock_timeout(path, err);
    while (lstat(path, &st) == 0) {
        struct pollfd wait[2] = {
            { .fd = watch, .events = POLLIN },
            { .fd = al_cancel_fd(budget->cancel), .events = POLLIN },
        };
        int64_t left = deadline - al_clock_ms();
        char events[1024];

        if (al_cancel_fired(budget->cancel))
            return cancelled(err);
        if (left <= 0)
            return lock_timeout(path, err);
        if (wait_and_tell(wait, left, budget, &told) < 0 && errno != EINTR)
            return al_error_errno(err, errno, "cannot wait for '%s'", strrchr(path, '/') + 1);
        while (read(watch, events, sizeof(events)) > 0)
            continue; /* which file went does not matter: lstat() tells */
    }
    budget->left_ms = deadline > al_clock_ms() ? (uint32_t)(deadline - al_clock_ms()) : 1;
    return 0;
}
