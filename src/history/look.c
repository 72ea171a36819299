// SPDX-License-Identifier: Apache-2.0
#include "history/look.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "util/fs.h"

#define PIECE_BYTES (64u * 1024u)

/* False when it has another size, or cannot be read. */
static bool hash_content(int fd, uint64_t size, bool sha256, struct al_oid *ret_oid)
{
    char piece[PIECE_BYTES];
    struct al_hash hash;
    uint64_t left = size;

    al_hash_init_object(&hash, sha256, AL_OBJECT_BLOB, size);
    while (left) {
        ssize_t n = read(fd, piece, left < sizeof(piece) ? (size_t)left : sizeof(piece));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        left -= (uint64_t)n;
        al_hash_add(&hash, piece, (size_t)n);
    }
    al_hash_end(&hash, ret_oid);
    return true;
}

/* The lease ends when the descriptor is closed. */
static bool is_written(int fd)
{
    return fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EAGAIN;
}

/* What cannot be opened: a link, a socket, what nobody may read. */
static void look_from_outside(int dir_fd, const char *name, bool sha256, struct al_look *look)
{
    char target[PATH_MAX];
    struct stat st;
    ssize_t len;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        look->mode = st.st_mode;
    if (!S_ISLNK(look->mode))
        return;
    len = readlinkat(dir_fd, name, target, sizeof(target));
    if (len >= 0)
        al_oid_of(sha256, AL_OBJECT_BLOB, target, (size_t)len, &look->oid);
}

void al_look_at(int dir_fd, const char *name, bool sha256, struct al_look *ret_look)
{
    static const struct al_oid none;
    al_auto(al_closep) int fd =
        openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct al_look look = { .mode = 0 };
    struct stat st;

    if (fd < 0) {
        look_from_outside(dir_fd, name, sha256, &look);
    } else {
        look.is_open = is_written(fd); /* before its content is read */
        if (fstat(fd, &st) == 0)
            look.mode = st.st_mode;
        if (S_ISREG(look.mode) && !hash_content(fd, (uint64_t)st.st_size, sha256, &look.oid))
            look.oid = none;
    }
    *ret_look = look;
}
