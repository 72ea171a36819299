// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_lockfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "util/fs.h"

#define PREFIX         ".airlock-"
#define FIRST_WORDS    "airlock rollback "
#define DIGITS         "0123456789abcdef"
#define LOCK_MAX_BYTES 64u

int al_lockfile_token(char ret_token[AL_LOCK_TOKEN], struct al_error *err)
{
    uint64_t value;

    if (getrandom(&value, sizeof(value), 0) != (ssize_t)sizeof(value))
        return al_error_errno(err, errno, "cannot name a rollback");
    (void)snprintf(ret_token, AL_LOCK_TOKEN, "%016" PRIx64, value);
    return 0;
}

/* Open a lock file, or -1, and lock it.  *ret_free: nobody else has it locked. */
static int open_locked(int dir_fd, const char *name, bool *ret_free)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    *ret_free = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    return fd;
}

/* Create a lock that has its content, and is locked, from the start: it would have no owner
 * otherwise. */
static int create(int dir_fd, const char *name, const char *token, int *ret_fd)
{
    al_auto(al_freep) char *text = al_asprintf(FIRST_WORDS "%s\n", token);
    al_auto(al_freep) char *temp = al_asprintf(".airlock-lock-%s", token);
    int r = al_fs_write_atomic(dir_fd, temp, text, strlen(text), 0600, true);

    al_auto(al_closep) int fd = -1;
    bool is_free;

    if (r < 0)
        return r;
    fd = open_locked(dir_fd, temp, &is_free);
    if (linkat(dir_fd, temp, dir_fd, name, 0) < 0)
        r = -errno;
    (void)unlinkat(dir_fd, temp, 0);
    if (r == 0)
        *ret_fd = al_take_fd(&fd);
    return r;
}

static void hold(struct al_lockfile *lock, int dir_fd, const char *name, int fd)
{
    lock->dir_fd = dir_fd;
    lock->fd = fd;
    (void)snprintf(lock->name, sizeof(lock->name), "%s", name);
    lock->held = true;
}

int al_lockfile_acquire(struct al_lockfile *lock, int dir_fd, const char *name, const char *token,
                        struct al_error *err)
{
    int fd = -1;
    int r = create(dir_fd, name, token, &fd);

    if (r == -EEXIST)
        return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_LOCK_TIMEOUT,
                                 "Another git process holds %s; wait for it to end, or remove the "
                                 "file if none runs",
                                 name);
    if (r < 0)
        return al_error_errno(err, -r, "cannot make '%s'", name);
    hold(lock, dir_fd, name, fd);
    return 0;
}

void al_lockfile_release(struct al_lockfile *lock)
{
    if (lock->held)
        (void)unlinkat(lock->dir_fd, lock->name, 0);
    al_lockfile_leave(lock);
}

/* The token in a lock; false: it is no rollback's. */
static bool read_token(int fd, char ret_token[AL_LOCK_TOKEN])
{
    const size_t at = strlen(FIRST_WORDS), end = at + AL_LOCK_TOKEN - 1;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (fd < 0 || al_fs_read_fd(fd, LOCK_MAX_BYTES, &text) < 0 || text.len != end + 1 ||
        !al_starts_with(text.buf, FIRST_WORDS) || text.buf[end] != '\n' ||
        strspn(text.buf + at, DIGITS) != AL_LOCK_TOKEN - 1)
        return false;
    memcpy(ret_token, text.buf + at, AL_LOCK_TOKEN - 1);
    ret_token[AL_LOCK_TOKEN - 1] = '\0';
    return true;
}

bool al_lockfile_find(int dir_fd, const char *name, char ret_token[AL_LOCK_TOKEN])
{
    bool is_free;
    al_auto(al_closep) int fd = open_locked(dir_fd, name, &is_free);

    return is_free && read_token(fd, ret_token);
}

bool al_lockfile_adopt(struct al_lockfile *lock, int dir_fd, const char *name, const char *token)
{
    char found[AL_LOCK_TOKEN] = "";
    bool is_free;
    al_auto(al_closep) int fd = open_locked(dir_fd, name, &is_free);

    if (!is_free || !read_token(fd, found) || strcmp(found, token) != 0)
        return false;
    hold(lock, dir_fd, name, al_take_fd(&fd));
    return true;
}

void al_lockfile_leave(struct al_lockfile *lock)
{
    al_close(lock->fd);
    lock->fd = -1;
    lock->held = false;
}

void al_lockfile_remove(int dir_fd, const char *name)
{
    char token[AL_LOCK_TOKEN];

    if (al_lockfile_find(dir_fd, name, token))
        (void)unlinkat(dir_fd, name, 0);
}

/* ".airlock-<token>", ".airlock-index-<token>" and ".airlock-lock-<token>". */
static bool is_temporary(const char *name)
{
    const char *token = strrchr(name, '-');

    return al_starts_with(name, PREFIX) && strlen(token + 1) == AL_LOCK_TOKEN - 1 &&
           strspn(token + 1, DIGITS) == AL_LOCK_TOKEN - 1;
}

void al_lockfile_tidy(int dir_fd)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    const struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir)))
        if (is_temporary(entry->d_name))
            (void)unlinkat(dir_fd, entry->d_name, 0);
}
