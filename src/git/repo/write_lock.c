// SPDX-License-Identifier: Apache-2.0
#include "git/repo/write_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "git/git_lock.h"
#include "git/layer.h"
#include "git/repo/repo.h"
#include "guard/text.h"

/** Another git may take its lock again each time; after so many the turn is kept. */
#define ROUNDS_MAX       16

#define HELD             0 /* bytes of the file */
#define NEXT             1

#define HOLDER_MAX_BYTES 8192u

/* A writer that waits. */
struct wait {
    struct al_lock_wait lock;
    const struct al_git *git;
    int fd;
    bool counts_all; /* waiting for a writer of this process is a part of the call's time, too */
};

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

static void read_file(int fd, char ret_text[HOLDER_MAX_BYTES + 1])
{
    const ssize_t len = pread(fd, ret_text, HOLDER_MAX_BYTES, 0);

    ret_text[len > 0 ? len : 0] = '\0';
}

/* The holder's line, safe; NULL: nobody has written one.  Caller frees. */
static char *read_holder(int fd)
{
    char text[HOLDER_MAX_BYTES + 1];

    read_file(fd, text);
    text[strcspn(text, "\n")] = '\0';
    return *text ? al_text_sanitize_line(text) : NULL;
}

/* The second line: the holder's private directory, which no two processes share. */
static bool is_held_here(const struct wait *wait)
{
    char text[HOLDER_MAX_BYTES + 1];
    const char *line;

    read_file(wait->fd, text);
    line = strchr(text, '\n');
    return line && al_ends_with(line, "\n") &&
           !strncmp(line + 1, wait->git->private_dir, strlen(line + 1) - 1);
}

/* A content that stays is replaced by the next writer. */
static void empty(int fd)
{
    int r = ftruncate(fd, 0);

    (void)r;
}

/* A full disk does not keep the lock from being held, only nobody knows by whom. */
static void write_holder(int fd, const struct al_git *git, const struct al_run_limits *budget)
{
    al_auto(al_freep) char *line = NULL;
    char time[25];

    al_clock_iso(time);
    line =
        al_asprintf("%s (process %ld), since %s\n%s\n", budget->caller ? budget->caller : "airlock",
                    (long)getpid(), time, git->private_dir);
    empty(fd);
    (void)al_write_all(fd, line, strlen(line)); /* the first write to this descriptor */
}

static char *describe_wait(const void *fd)
{
    al_auto(al_freep) char *holder = read_holder(*(const int *)fd);

    return al_asprintf("waiting for another writer of this repository%s%s", holder ? ": " : "",
                       holder ? holder : "");
}

static int timed_out(const struct wait *wait, struct al_error *err)
{
    al_auto(al_freep) char *holder = read_holder(wait->fd);
    return al_error_remedy(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                                             "Another writer has this repository%s%s",
                                             holder ? ": " : "", holder ? holder : ""),
                           err, "Nothing was done; try again when it has ended.");
}

/* Wait until something happens to the file, or it is time to look again.  Returns 0, or why the
 * wait is over. */
static int wait_for_change(struct wait *wait, struct al_error *err)
{
    const bool is_queued = !wait->counts_all && is_held_here(wait);
    const int64_t now = al_clock_ms();
    int r = al_lock_wait_step(&wait->lock, err);

    if (is_queued)
        wait->lock.queued_ms += al_clock_ms() - now;
    return r == AL_ERR_TIMEOUT ? timed_out(wait, err) : r;
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

/* Take both bytes, the one of the next writer first. */
static int wait_in_line(struct wait *wait, const char *path, struct al_error *err)
{
    int r;

    al_lock_wait_begin(&wait->lock, path, IN_CLOSE_WRITE | IN_MODIFY);
    r = await_byte(wait, NEXT, err);
    if (r == 0)
        r = await_byte(wait, HELD, err);
    al_lock_wait_end(&wait->lock, r == 0);
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

static int acquire(struct al_repo *repo, bool counts_all, struct al_run_limits *budget,
                   struct al_error *err)
{
    const struct al_git *git = repo->at.git;
    al_auto(al_freep) char *name = NULL;
    al_auto(al_freep) char *path = NULL;
    al_auto(al_closep) int fd = -1;
    struct wait wait = { .lock = { .budget = budget, .describe = describe_wait, .of = &wait.fd },
                         .git = git,
                         .counts_all = counts_all };
    int r;

    if (repo->at.is_own) /* one call's */
        return 0;
    name = al_location_dir_name(repo->at.common_dir);
    if (!name)
        return cannot_lock(-errno, err);
    path = al_fs_join(git->lock_dir, name);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == ENOENT && al_fs_mkdirs(git->lock_dir, 0700) == 0)
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return cannot_lock(-errno, err);
    wait.fd = fd;
    r = take_lock(&wait, path, err);
    if (r < 0)
        return r;
    (void)set_lock(fd, F_UNLCK, NEXT);
    write_holder(fd, git, budget);
    repo->write_fd = al_take_fd(&fd);
    return 0;
}

int al_write_lock_acquire(struct al_repo *repo, struct al_run_limits *budget, struct al_error *err)
{
    return acquire(repo, false, budget, err);
}

int al_write_lock_acquire_other(struct al_repo *other, const struct al_repo *own,
                                struct al_run_limits *budget, struct al_error *err)
{
    return strcmp(other->at.common_dir, own->at.common_dir) != 0 ? acquire(other, true, budget, err)
                                                                 : 0;
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

/* The content goes first, and the file is closed last, which wakes the next writer. */
void al_write_lock_release(struct al_repo *repo)
{
    if (!repo || repo->write_fd < 0)
        return;
    empty(repo->write_fd);
    (void)set_lock(repo->write_fd, F_UNLCK, HELD);
    al_closep(&repo->write_fd);
}
