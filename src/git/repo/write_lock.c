// SPDX-License-Identifier: Apache-2.0
#include "git/repo/write_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "git/git_lock.h"
#include "git/layer.h"
#include "git/repo/repo.h"
#include "guard/text.h"

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

/* --- Shared lock --- */

#define HELD             0 /* bytes of the file */
#define NEXT             1

#define HOLDER_MAX_BYTES 512u

/* A process that dies closes the file, which wakes those who wait, just before its lock goes.  They
 * look again soon, then less and less often. */
#define LOOK_FIRST_MS 1
#define LOOK_MOST_MS  200

/* A writer that waits. */
struct wait {
    struct al_run_limits *budget;
    int fd;
    int inotify_fd; /* -1: there is none, and the file is looked at from time to time */
    int64_t began_ms, deadline_ms;
    int look_ms;
    bool told;
};

/* The file is called by device and inode: a repository may be reached by several paths. */
static int lock_file_of(const char *dir, const char *common_dir, char **ret_path)
{
    struct stat st;

    if (stat(common_dir, &st) < 0)
        return -errno;
    *ret_path = al_asprintf("%s/%llx-%llx", dir, (unsigned long long)st.st_dev,
                            (unsigned long long)st.st_ino);
    return 0;
}

static int set_lock(int fd, short type, off_t byte)
{
    struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
    int r;

    do
        r = fcntl(fd, F_OFD_SETLK, &lock);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

static bool is_taken(int r)
{
    return r == -EAGAIN || r == -EACCES;
}

/* The holder's line, safe; NULL: nobody has written one.  Caller frees. */
static char *read_holder(int fd)
{
    char text[HOLDER_MAX_BYTES + 1];
    ssize_t len = pread(fd, text, HOLDER_MAX_BYTES, 0);

    if (len <= 0)
        return NULL;
    text[len] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return *text ? al_text_sanitize_line(text) : NULL;
}

/* A content that stays is replaced by the next writer. */
static void empty(int fd)
{
    int r = ftruncate(fd, 0);

    (void)r;
}

/* Without room on the disk the lock is held all the same, only nobody knows by whom. */
static void write_holder(int fd, const struct al_run_limits *budget)
{
    al_auto(al_freep) char *line = NULL;
    char time[25];

    al_clock_iso(time);
    line = al_asprintf("%s (process %ld), since %s\n", budget->caller ? budget->caller : "airlock",
                       (long)getpid(), time);
    empty(fd);
    (void)al_write_all(fd, line, strlen(line)); /* the first write to this descriptor */
}

static char *describe_wait(int fd)
{
    al_auto(al_freep) char *holder = read_holder(fd);

    return al_asprintf("waiting for another writer of this repository%s%s", holder ? ": " : "",
                       holder ? holder : "");
}

static int timed_out(const struct wait *wait, struct al_error *err)
{
    al_auto(al_freep) char *holder = read_holder(wait->fd);
    int r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                              "Another writer has this repository%s%s", holder ? ": " : "",
                              holder ? holder : "");

    if (err)
        err->remedy = "Nothing was done; try again when it has ended.";
    return r;
}

/* Wait until something happens to the file, or it is time to look again.  Returns 0, or why the
 * wait is over. */
static int wait_for_change(struct wait *wait, struct al_error *err)
{
    struct al_run_limits *budget = wait->budget;
    int64_t now = al_clock_ms(), left = wait->deadline_ms - now;
    char events[1024];
    struct pollfd fds[2] = {
        { .fd = wait->inotify_fd, .events = POLLIN },
        { .fd = al_cancel_fd(budget->cancel), .events = POLLIN },
    };

    if (al_cancel_fired(budget->cancel))
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    if (left <= 0)
        return timed_out(wait, err);
    if (!wait->told && now - wait->began_ms >= TELL_AFTER_MS && budget->on_lock_wait.report) {
        al_auto(al_freep) char *line = describe_wait(wait->fd);

        budget->on_lock_wait.report(budget->on_lock_wait.payload, line);
        wait->told = true;
    }
    if (poll(fds, 2, left < wait->look_ms ? (int)left : wait->look_ms) > 0 && fds[0].revents) {
        while (read(wait->inotify_fd, events, sizeof(events)) > 0)
            continue; /* what happened does not matter */
        wait->look_ms = LOOK_FIRST_MS;
    } else if (wait->look_ms < LOOK_MOST_MS) {
        wait->look_ms *= 2;
    }
    return 0;
}

static int cannot_lock(int r, struct al_error *err)
{
    return al_error_errno(err, -r, "cannot lock the repository for writing");
}

static int await_byte(struct wait *wait, off_t byte, struct al_error *err)
{
    int r = set_lock(wait->fd, F_WRLCK, byte);

    while (is_taken(r)) {
        r = wait_for_change(wait, err);
        if (r < 0)
            return r;
        r = set_lock(wait->fd, F_WRLCK, byte);
    }
    return r < 0 ? cannot_lock(r, err) : 0;
}

/* Without inotify, waiting takes up to LOOK_MOST_MS longer. */
static int watch(const char *path)
{
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

    if (fd >= 0 && inotify_add_watch(fd, path, IN_CLOSE_WRITE | IN_MODIFY) < 0)
        al_closep(&fd);
    return fd;
}

/* Take both bytes, the one of the next writer first. */
static int wait_in_line(struct wait *wait, const char *path, struct al_error *err)
{
    al_auto(al_closep) int inotify_fd = watch(path);
    struct al_run_limits *budget = wait->budget;
    int64_t waited_ms;
    int r;

    wait->inotify_fd = inotify_fd;
    r = await_byte(wait, NEXT, err);
    if (r == 0)
        r = await_byte(wait, HELD, err);
    if (wait->told) /* what was said is over */
        budget->on_lock_wait.report(budget->on_lock_wait.payload, NULL);
    waited_ms = al_clock_ms() - wait->began_ms;
    budget->left_ms = budget->left_ms > waited_ms ? budget->left_ms - (uint32_t)waited_ms : 1;
    return r;
}

static int take_lock(struct wait *wait, const char *path, struct al_error *err)
{
    int r = set_lock(wait->fd, F_WRLCK, NEXT);

    if (r == 0)
        r = set_lock(wait->fd, F_WRLCK, HELD);
    if (is_taken(r))
        return wait_in_line(wait, path, err);
    return r < 0 ? cannot_lock(r, err) : 0;
}

int al_shared_lock_acquire(const char *dir, const char *common_dir, struct al_run_limits *budget,
                           int *ret_fd, struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;
    al_auto(al_closep) int fd = -1;
    struct wait wait = { .budget = budget, .began_ms = al_clock_ms(), .look_ms = LOOK_FIRST_MS };
    int r = lock_file_of(dir, common_dir, &path);

    if (r < 0)
        return cannot_lock(r, err);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == ENOENT && al_fs_mkdirs(dir, 0700) == 0)
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return cannot_lock(-errno, err);
    wait.fd = fd;
    wait.deadline_ms = wait.began_ms + budget->left_ms;
    r = take_lock(&wait, path, err);
    if (r < 0)
        return r;
    (void)set_lock(fd, F_UNLCK, NEXT);
    write_holder(fd, budget);
    *ret_fd = al_take_fd(&fd);
    return 0;
}

/* The content goes first, and the file is closed last, which wakes the next writer. */
void al_shared_lock_release(int fd)
{
    if (fd < 0)
        return;
    empty(fd);
    (void)set_lock(fd, F_UNLCK, HELD);
    al_close(fd);
}

char *al_shared_lock_waiting(const char *dir, const char *common_dir)
{
    al_auto(al_freep) char *path = NULL;
    al_auto(al_closep) int fd = -1;

    if (lock_file_of(dir, common_dir, &path) == 0)
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return describe_wait(fd);
}
