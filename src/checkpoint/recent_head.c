// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/recent_head.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "checkpoint/recent_file.h"
#include "util/fs.h"

#define LOCK_POLL_MS 10

int al_recent_failed(int errno_value, struct al_error *err)
{
    return al_error_errno(err, errno_value, "cannot write to the checkpoint store");
}

int al_recent_lock(int fd, struct al_deadline *deadline, struct al_error *err)
{
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        int r = deadline ? al_deadline_check(deadline, err) : 0;

        if (errno != EWOULDBLOCK && errno != EINTR)
            return al_recent_failed(errno, err);
        if (r < 0)
            return r;
        (void)poll(NULL, 0, LOCK_POLL_MS);
    }
    return 0;
}

void al_recent_unlock(int fd)
{
    (void)flock(fd, LOCK_UN);
}

int al_recent_write_at(int fd, const char *data, size_t len, uint64_t at)
{
    while (len) {
        ssize_t n = pwrite(fd, data, len, (off_t)at);

        if (n == 0 || (n < 0 && errno != EINTR))
            return n == 0 ? -EIO : -errno;
        if (n > 0) {
            data += n;
            len -= (size_t)n;
            at += (uint64_t)n;
        }
    }
    return 0;
}

int al_recent_write_head(int fd, unsigned format, bool sha256, uint64_t *ret_nonce,
                         struct al_error *err)
{
    struct al_recent_head head = { .format = format };
    char bytes[AL_RECENT_HEAD_BYTES];
    int r;

    if (getrandom(&head.nonce, sizeof(head.nonce), 0) != (ssize_t)sizeof(head.nonce))
        return al_error_errno(err, errno, "cannot get random bytes");
    memcpy(head.boot, al_boot_id(), sizeof(head.boot));
    al_recent_head_format(&head, sha256, bytes);
    r = al_recent_write_at(fd, bytes, sizeof(bytes), 0);
    if (r == 0)
        r = al_fs_sync(fd);
    if (r < 0)
        return al_recent_failed(-r, err);
    *ret_nonce = head.nonce;
    return 0;
}
