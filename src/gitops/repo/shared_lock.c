// SPDX-License-Identifier: Apache-2.0
#include "gitops/repo/shared_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/text.h"
#include "util/clock.h"
#include "util/fs.h"

#define HELD             0 /* bytes of the file */
#define NEXT             1

#define HOLDER_MAX_BYTES 512u

/** The user is told once about a wait that is longer. */
#define TELL_AFTER_MS 1000

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
