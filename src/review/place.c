// SPDX-License-Identifier: Apache-2.0
#include "review/place.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/text.h"

/* Connections that wait to be accepted. */
#define BACKLOG 32

#define SUFFIX  ".sock"

static void name_socket(pid_t pid, char ret_name[32])
{
    (void)snprintf(ret_name, 32, "%ld" SUFFIX, (long)pid);
}

pid_t al_review_place_owner(const char *name)
{
    const char *at = name;
    int64_t pid = 0;

    while (*name != '0' && *at >= '0' && *at <= '9' && pid <= INT32_MAX)
        pid = pid * 10 + (*at++ - '0');
    return pid > 0 && pid <= INT32_MAX && !strcmp(at, SUFFIX) ? (pid_t)pid : 0;
}

/* The address of a socket, by way of the directory's descriptor. */
static struct sockaddr_un address_of(int dir_fd, pid_t pid)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char name[32];

    name_socket(pid, name);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dir_fd, name);
    return address;
}

static int make_dir(const char *dir, bool parents)
{
    if (parents)
        return al_fs_mkdirs(dir, 0700);
    return mkdir(dir, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

int al_review_place_open(const char *dir, bool create, bool parents, int *ret_fd,
                         struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(dir);
    const int made = create ? make_dir(dir, parents) : 0;
    al_auto(al_closep) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0 && (errno == ENOENT || made < 0))
        return al_error_set(err, AL_ERR_NOT_FOUND, "there is no directory '%s'", safe);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is a link or a file; remove it", safe);
    if (fd < 0 || fstat(fd, &st) < 0)
        return al_error_errno(err, errno, "cannot open '%s'", safe);
    if (st.st_uid != geteuid())
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' belongs to another user; remove it", safe);
    if ((st.st_mode & 077) && fchmod(fd, 0700) < 0)
        return al_error_errno(err, errno, "cannot close '%s' to other users", safe);
    *ret_fd = al_take_fd(&fd);
    return 0;
}

static int connect_to(int dir_fd, pid_t pid)
{
    const struct sockaddr_un address = address_of(dir_fd, pid);
    al_auto(al_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return -errno;
    return al_take_fd(&fd);
}

/* Remove a socket that nobody listens on, unless its process lives: that one may be about to. */
static void remove_dead(int dir_fd, pid_t pid)
{
    char name[32];

    name_socket(pid, name);
    if (kill(pid, 0) < 0 && errno == ESRCH)
        (void)unlinkat(dir_fd, name, 0);
}

int al_review_place_connect(int dir_fd, pid_t pid)
{
    al_auto(al_closep) int fd = connect_to(dir_fd, pid);
    struct ucred peer = { .uid = (uid_t)-1 };
    socklen_t len = sizeof(peer);

    if (fd == -ECONNREFUSED)
        remove_dead(dir_fd, pid);
    if (fd < 0)
        return fd;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.uid != geteuid())
        return -EPERM;
    return al_take_fd(&fd);
}

/* Make room for this process's socket: an earlier process had its number. */
static int remove_former(int dir_fd, const char *name, struct al_error *err)
{
    al_auto(al_closep) int fd = -1;
    struct stat st;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    fd = S_ISSOCK(st.st_mode) ? connect_to(dir_fd, getpid()) : -EEXIST;
    if (fd != -ECONNREFUSED)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' is there already, and not a socket that nobody uses", name);
    (void)unlinkat(dir_fd, name, 0);
    return 0;
}

int al_review_place_listen(int dir_fd, int *ret_fd, struct al_error *err)
{
    const struct sockaddr_un address = address_of(dir_fd, getpid());
    al_auto(al_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    char name[32];
    int r;

    name_socket(getpid(), name);
    r = remove_former(dir_fd, name, err);
    if (r < 0)
        return r;
    /* The mode of the descriptor becomes that of the file (Linux), so it never has another one. */
    if (fd < 0 || fchmod(fd, 0600) < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, BACKLOG) < 0)
        return al_error_errno(err, errno, "cannot listen on '%s'", name);
    *ret_fd = al_take_fd(&fd);
    return 0;
}

#define LOCK "review.lock"

int al_review_place_attend(int dir_fd)
{
    al_auto(al_closep) int fd =
        openat(dir_fd, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    /* Shared among all that attend. */
    const struct flock shared = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

    return fd < 0 || fcntl(fd, F_OFD_SETLK, &shared) < 0 ? -errno : al_take_fd(&fd);
}

bool al_review_place_is_attended(int dir_fd)
{
    al_auto(al_closep) int fd = openat(dir_fd, LOCK, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct flock other = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fd >= 0 && fcntl(fd, F_OFD_GETLK, &other) == 0 && other.l_type != F_UNLCK;
}

void al_review_place_remove(int dir_fd)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    const struct dirent *entry;
    char own[32];

    name_socket(getpid(), own);
    (void)unlinkat(dir_fd, own, 0);
    while (dir && (entry = readdir(dir)))
        if (al_review_place_owner(entry->d_name))
            remove_dead(dir_fd, al_review_place_owner(entry->d_name));
}
