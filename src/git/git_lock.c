// SPDX-License-Identifier: Apache-2.0
#include "git/git_lock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "git/location.h"
#include "proc/proc.h"

#define NAME_MAX_BYTES 64u
#define LOCK_MAX_BYTES 64u
#define FIRST_WORDS    "airlock rollback "

/** The user is told once about a lock that is held for longer. */
#define TELL_AFTER_MS 1000

/* A process that dies closes its files, which wakes those who wait, just before its locks go.  They
 * look again soon, then less and less often. */
#define LOOK_FIRST_MS 1
#define LOOK_MOST_MS  200

/** The wait for a lock without a holder: a git may have ended at this moment, or run where /proc
 * does not show it. */
#define BRIEF_MS 2000u

#define REMEDY(name, place)                                                                        \
    "It is left over from a git that was killed. airlock removes no lock: the user can delete "    \
    "the file " name " in the " place "."

char *al_git_lock_path(const struct al_location *at, enum al_git_locks lock)
{
    return lock == AL_LOCK_INDEX
               ? al_fs_join(at->git_dir, "index.lock")
               : al_fs_join(at->common_dir,
                            lock == AL_LOCK_CONFIG ? "config.lock" : "packed-refs.lock");
}

/* Whether a process has the file open.  A process whose descriptors cannot be read belongs to
 * another user and counts as no. */
static bool has_open(int process, const struct stat *lock)
{
    al_auto(al_closedirp) DIR *fds =
        al_fs_list(openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const struct dirent *entry;
    struct stat st;

    while (fds && (entry = readdir(fds)))
        if (isdigit((unsigned char)entry->d_name[0]) &&
            fstatat(dirfd(fds), entry->d_name, &st, 0) == 0 && st.st_ino == lock->st_ino &&
            st.st_dev == lock->st_dev)
            return true;
    return false;
}

static bool is_git(int process)
{
    al_auto(al_closep) int fd = openat(process, "comm", O_RDONLY | O_CLOEXEC);
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;

    return fd >= 0 && al_fs_read_fd(fd, NAME_MAX_BYTES, &name) == 0 &&
           al_starts_with(name.buf, "git");
}

static bool add_place(void *places, const char *name, int git_dir_fd, const char *top)
{
    (void)name;
    (void)git_dir_fd;
    if (top)
        al_strv_add(places, top);
    return true;
}

/* The directories in which a git of this repository works: the working tree and the git directory,
 * and those of its other working trees, which share the locks of the common directory. */
static void list_places(const struct al_location *at, struct al_strv *ret_places)
{
    al_strv_adds(ret_places, at->top, at->git_dir, at->common_dir, NULL);
    if (al_ends_with(at->common_dir, "/.git"))
        al_strv_take(ret_places,
                     al_strndup(at->common_dir, strlen(at->common_dir) - strlen("/.git")));
    (void)al_git_each_linked(at, add_place, ret_places, NULL);
}

static bool works_in(int process, const struct al_strv *places)
{
    char dir[PATH_MAX];
    ssize_t len = readlinkat(process, "cwd", dir, sizeof(dir) - 1);

    if (len < 0)
        return false;
    dir[len] = '\0';
    for (size_t i = 0; i < places->count; i++)
        if (al_fs_beneath(places->items[i], dir))
            return true;
    return false;
}

bool al_git_lock_has_no_holder(const struct al_location *at, const struct stat *lock)
{
    al_auto(al_closedirp) DIR *processes = NULL;
    al_auto(al_strv_clear) struct al_strv places = AL_STRV_INIT;
    const struct dirent *entry;

    if (!S_ISREG(lock->st_mode) || lock->st_uid != geteuid())
        return false;
    processes = al_fs_list(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!processes)
        return false;
    list_places(at, &places);
    while ((entry = readdir(processes))) {
        al_auto(al_closep) int process = -1;

        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        process = openat(dirfd(processes), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (process >= 0 &&
            (has_open(process, lock) || (is_git(process) && works_in(process, &places))))
            return false;
    }
    return true;
}

bool al_git_lock_is_stale(const struct al_location *at, const struct stat *lock)
{
    return al_clock_ns() / 1000000000 - lock->st_mtim.tv_sec > AL_STALE_AFTER_S &&
           al_git_lock_has_no_holder(at, lock);
}

static int lock_timeout(const char *name, struct al_error *err)
{
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                             "Another git process holds %s; wait for it to end, or remove the file "
                             "if none runs",
                             name);
}

/* A stale lock is an error at once: no process will ever remove it.  airlock leaves the file alone.
 */
static int left_over(const char *path, enum al_git_locks lock, struct al_error *err)
{
    return al_error_remedy(
        al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                          "%s is stale: it is older than %d s, no process has it open, and no "
                          "git works in the repository",
                          strrchr(path, '/') + 1, AL_STALE_AFTER_S),
        err,
        lock == AL_LOCK_INDEX    ? REMEDY("index.lock", "git directory")
        : lock == AL_LOCK_CONFIG ? REMEDY("config.lock", "common git directory")
                                 : REMEDY("packed-refs.lock", "common git directory"));
}

bool al_git_lock_is_interrupted(const char *path)
{
    struct al_lockfile lock = AL_LOCKFILE_INIT;
    char token[AL_LOCK_TOKEN];
    const bool is = al_lockfile_take_over(&lock, AT_FDCWD, path, token);

    al_lockfile_leave(&lock);
    return is;
}

static int interrupted(const char *path, struct al_error *err)
{
    return al_error_remedy(
        al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                          "A rollback was interrupted, and the repository may be half changed: "
                          "%s is its lock",
                          strrchr(path, '/') + 1),
        err, "A user completes it with 'airlock rollback'.");
}

/* --- Waiting --- */

void al_lock_wait_begin(struct al_lock_wait *wait, const char *path, uint32_t events)
{
    wait->began_ms = al_clock_ms();
    wait->look_ms = LOOK_FIRST_MS;
    wait->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (wait->inotify_fd >= 0 && inotify_add_watch(wait->inotify_fd, path, events) < 0)
        al_closep(&wait->inotify_fd);
}

int al_lock_wait_step(struct al_lock_wait *wait, struct al_error *err)
{
    struct al_run_limits *budget = wait->budget;
    const int64_t now = al_clock_ms();
    const int64_t left = wait->began_ms + budget->left_ms + wait->queued_ms - now;
    char events[1024];
    struct pollfd fds[2] = {
        { .fd = wait->inotify_fd, .events = POLLIN },
        { .fd = al_cancel_fd(budget->cancel), .events = POLLIN },
    };

    if (al_cancel_fired(budget->cancel))
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    if (left <= 0)
        return AL_ERR_TIMEOUT;
    if (!wait->told && now - wait->began_ms >= TELL_AFTER_MS && budget->on_lock_wait.report) {
        al_auto(al_freep) char *line = wait->describe(wait->of);

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

void al_lock_wait_end(struct al_lock_wait *wait, bool succeeded)
{
    struct al_run_limits *budget = wait->budget;
    const int64_t waited_ms = al_clock_ms() - wait->began_ms - wait->queued_ms;

    al_closep(&wait->inotify_fd);
    if (wait->told) /* what was said is over */
        budget->on_lock_wait.report(budget->on_lock_wait.payload, NULL);
    if (succeeded)
        budget->left_ms = budget->left_ms > waited_ms ? budget->left_ms - (uint32_t)waited_ms : 1;
}

static char *describe_lock(const void *path)
{
    return al_asprintf("waiting for %s, which another git process holds", strrchr(path, '/') + 1);
}

static int wait_for_lock(const struct al_location *at, enum al_git_locks lock,
                         struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *path = al_git_lock_path(at, lock);
    struct al_lock_wait wait = { .budget = budget, .describe = describe_lock, .of = path };
    struct stat st;
    int r = 0;

    if (lstat(path, &st) < 0)
        return 0;
    if (al_git_lock_is_interrupted(path))
        return interrupted(path, err);
    if (al_git_lock_is_stale(at, &st))
        return left_over(path, lock, err);
    al_lock_wait_begin(&wait, lock == AL_LOCK_INDEX ? at->git_dir : at->common_dir,
                       IN_DELETE | IN_MOVED_FROM);
    while (r == 0 && lstat(path, &st) == 0)
        r = al_lock_wait_step(&wait, err);
    al_lock_wait_end(&wait, r == 0);
    return r == AL_ERR_TIMEOUT ? lock_timeout(strrchr(path, '/') + 1, err) : r;
}

bool al_git_lock_exists(const struct al_location *at, unsigned locks)
{
    bool exists = false;

    for (unsigned lock = AL_LOCK_INDEX; !exists && lock <= AL_LOCK_PACKED_REFS; lock <<= 1) {
        al_auto(al_freep) char *path =
            locks & lock ? al_git_lock_path(at, (enum al_git_locks)lock) : NULL;
        struct stat st;

        exists = path && lstat(path, &st) == 0;
    }
    return exists;
}

int al_git_lock_wait(const struct al_location *at, unsigned locks, struct al_run_limits *budget,
                     struct al_error *err)
{
    int r = 0;

    for (unsigned lock = AL_LOCK_INDEX; r == 0 && lock <= AL_LOCK_PACKED_REFS; lock <<= 1)
        if (locks & lock)
            r = wait_for_lock(at, (enum al_git_locks)lock, budget, err);
    return r;
}

int al_index_lock_check(const struct al_location *at, struct al_error *err)
{
    const uint32_t most_ms = at->budget->left_ms < BRIEF_MS ? at->budget->left_ms : BRIEF_MS;
    struct al_run_limits brief = { .cancel = at->budget->cancel, .left_ms = most_ms };
    al_auto(al_freep) char *path = al_git_lock_path(at, AL_LOCK_INDEX);
    struct stat st;
    int r;

    if (lstat(path, &st) < 0 || !al_git_lock_has_no_holder(at, &st))
        return 0;
    if (al_git_lock_is_interrupted(path))
        return interrupted(path, err);
    r = al_git_lock_wait(at, AL_LOCK_INDEX, &brief, err);
    if (r == AL_ERR_EXECUTION && lstat(path, &st) == 0 && !al_git_lock_is_stale(at, &st))
        return al_error_remedy(
            al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                              "index.lock is in the git directory, but no git works in the "
                              "repository"),
            err, REMEDY("index.lock", "git directory"));
    if (r == 0)
        at->budget->left_ms -= most_ms - brief.left_ms;
    return r;
}

/* --- The locks of a rollback --- */

/* The lock has its content, and is locked, from the start: it would have no owner otherwise. */
int al_lockfile_acquire(struct al_lockfile *lock, int dir_fd, const char *name, const char *token,
                        struct al_error *err)
{
    al_auto(al_freep) char *text = al_asprintf(FIRST_WORDS "%s\n", token);
    al_auto(al_new_file_clear) struct al_new_file file;
    al_auto(al_closep) int fd = -1;
    int r = al_new_file_open(&file, dir_fd, 0600);

    if (r == 0)
        r = al_write_all(file.fd, text, strlen(text));
    if (r == 0)
        fd = fcntl(file.fd, F_DUPFD_CLOEXEC, 3);
    if (r == 0 && (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0))
        r = -errno;
    if (r == 0)
        r = al_new_file_name(&file, dir_fd, name, false);
    if (r == -EEXIST)
        return lock_timeout(name, err);
    if (r < 0)
        return al_error_errno(err, -r, "cannot make '%s'", name);
    *lock = (struct al_lockfile){ .dir_fd = dir_fd, .name = name, .fd = al_take_fd(&fd) };
    return 0;
}

void al_lockfile_release(struct al_lockfile *lock)
{
    if (lock->fd >= 0)
        (void)unlinkat(lock->dir_fd, lock->name, 0);
    al_lockfile_leave(lock);
}

void al_lockfile_leave(struct al_lockfile *lock)
{
    al_closep(&lock->fd);
}

bool al_lockfile_take_over(struct al_lockfile *lock, int dir_fd, const char *name,
                           char ret_token[AL_LOCK_TOKEN])
{
    const size_t at = strlen(FIRST_WORDS), end = at + AL_LOCK_TOKEN - 1;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_closep) int fd =
        openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0 || (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) ||
        al_fs_read_fd(fd, LOCK_MAX_BYTES, &text) < 0 || text.len != end + 1 ||
        !al_starts_with(text.buf, FIRST_WORDS) || text.buf[end] != '\n' ||
        strspn(text.buf + at, "0123456789abcdef") != AL_LOCK_TOKEN - 1)
        return false;
    (void)snprintf(ret_token, AL_LOCK_TOKEN, "%s", text.buf + at);
    *lock = (struct al_lockfile){ .dir_fd = dir_fd, .name = name, .fd = al_take_fd(&fd) };
    return true;
}
