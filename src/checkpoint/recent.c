// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/recent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/recent_file.h"
#include "checkpoint/recent_settle.h"
#include "util/fs.h"

#define NAME         "recent"
#define FULL_BYTES   (512u << 10)
#define FULL_COUNT   32u
#define MOST_BYTES   (8u << 20) /* nobody was alone with the store for long */
#define STEP_BYTES   (64u << 10)
#define LOCK_POLL_MS 10

static int failed(int errno_value, struct al_error *err)
{
    return al_error_errno(err, errno_value, "cannot write to the checkpoint store");
}

static int lock(int fd, struct al_deadline *deadline, struct al_error *err)
{
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        int r = deadline ? al_deadline_check(deadline, err) : 0;

        if (errno != EWOULDBLOCK && errno != EINTR)
            return failed(errno, err);
        if (r < 0)
            return r;
        (void)poll(NULL, 0, LOCK_POLL_MS);
    }
    return 0;
}

static void unlock(int fd)
{
    (void)flock(fd, LOCK_UN);
}

static int write_at(int fd, const char *data, size_t len, uint64_t at)
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

/* Begin the file anew.  Every record was settled. */
static int write_head(struct al_store *store, struct al_error *err)
{
    struct al_recent_head head = { .nonce = 0 };
    char bytes[AL_RECENT_HEAD_BYTES];
    int r;

    if (getrandom(&head.nonce, sizeof(head.nonce), 0) != (ssize_t)sizeof(head.nonce))
        return al_error_errno(err, errno, "cannot get random bytes");
    memcpy(head.boot, al_boot_id(), sizeof(head.boot));
    al_recent_head_format(&head, store->sha256, bytes);
    r = write_at(store->recent.fd, bytes, sizeof(bytes), 0);
    if (r == 0)
        r = al_fs_sync(store->recent.fd);
    if (r < 0)
        return failed(-r, err);
    store->recent.nonce = head.nonce;
    store->recent.end = AL_RECENT_HEAD_BYTES;
    store->recent.count = 0;
    return 0;
}

static bool is_of_this_boot(const struct al_store *store)
{
    char bytes[AL_RECENT_HEAD_BYTES];
    struct al_recent_head head;

    return pread(store->recent.fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
           al_recent_head_parse(bytes, store->sha256, &head) && !strcmp(head.boot, al_boot_id());
}

/* Do what the first user of the store after a boot does.  An empty file was just made: nothing was
 * written without synchronising it. */
static int begin_boot(struct al_store *store, struct al_deadline *deadline, struct al_error *err)
{
    struct stat st;
    int r = 0;

    if (is_of_this_boot(store))
        return 0; /* another process was first */
    if (fstat(store->recent.fd, &st) < 0)
        return failed(errno, err);
    r = st.st_size ? al_recent_recover_files(store, deadline, err)
                   : al_recent_settle_files(store, false, err);
    if (r == 0)
        r = write_head(store, err);
    if (r == 0 && !st.st_size)
        r = al_fs_sync(store->dir_fd) < 0 ? failed(EIO, err) : 0;
    return r;
}

int al_recent_open(struct al_store *store, bool create, struct al_deadline *deadline,
                   struct al_error *err)
{
    int r;

    if (!al_boot_id())
        return 0;
    store->recent.fd =
        openat(store->dir_fd, NAME, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
    if (store->recent.fd < 0)
        return errno == ENOENT && !create ? 0 : failed(errno, err);
    if (is_of_this_boot(store))
        return 0;
    r = lock(store->recent.fd, deadline, err);
    if (r < 0)
        return r;
    r = begin_boot(store, deadline, err);
    unlock(store->recent.fd);
    return r;
}

bool al_recent_is_open(const struct al_store *store)
{
    return store->recent.fd >= 0;
}

/* Find where the next record goes.  A process that was killed may have left a part of a record,
 * which is then the last one. */
static void walk(struct al_recent *recent, const char *bytes, size_t len, bool sha256)
{
    struct al_recent_head head = { .nonce = 0 };
    struct al_recent_record record;
    size_t last = 0, next;

    (void)al_recent_head_parse(bytes, sha256, &head);
    if (head.nonce != recent->nonce || !recent->end) {
        recent->nonce = head.nonce;
        recent->end = AL_RECENT_HEAD_BYTES;
        recent->count = 0;
    }
    while (
        (next = al_recent_record_at(bytes, len, (size_t)recent->end, head.nonce, false, &record))) {
        last = (size_t)recent->end;
        recent->end = next;
        recent->count++;
    }
    if (last && !al_recent_record_at(bytes, len, last, head.nonce, true, &record)) {
        recent->end = last;
        recent->count--;
    }
}

static int find_end(struct al_store *store, size_t *ret_size, struct al_error *err)
{
    struct stat st;
    void *map;

    if (fstat(store->recent.fd, &st) < 0)
        return failed(errno, err);
    *ret_size = (size_t)st.st_size;
    if (*ret_size < AL_RECENT_HEAD_BYTES)
        return failed(EIO, err);
    map = mmap(NULL, *ret_size, PROT_READ, MAP_SHARED, store->recent.fd, 0);
    if (map == MAP_FAILED)
        return failed(errno, err);
    walk(&store->recent, map, *ret_size, store->sha256);
    (void)munmap(map, *ret_size);
    return 0;
}

/* Write a record.  The file grows by steps, so that most records are written to blocks that it has
 * already, and no more than these need be synchronised. */
static int write_record(struct al_store *store, struct al_str *text, size_t size, bool durable)
{
    struct al_recent *recent = &store->recent;
    size_t len = text->len, end = (size_t)recent->end + len;
    int r;

    if (end > size) {
        size_t more = (end / STEP_BYTES + 1) * STEP_BYTES - end;

        al_str_reserve(text, more);
        memset(text->buf + len, 0, more);
        text->len += more;
    }
    r = write_at(recent->fd, text->buf, text->len, recent->end);
    if (r == 0 && durable && fdatasync(recent->fd) < 0)
        r = -errno;
    if (r < 0) { /* the caller goes on without it */
        static const char nothing[64];

        (void)write_at(recent->fd, nothing, len < sizeof(nothing) ? len : sizeof(nothing),
                       recent->end);
        return r;
    }
    recent->end = end;
    recent->count++;
    return 0;
}

static int add_locked(struct al_store *store, const struct al_recent_record *record, bool durable,
                      struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    size_t size = 0;
    int r = find_end(store, &size, err);

    if (r == 0 && store->recent.end > MOST_BYTES) {
        r = al_recent_settle_files(store, false, err);
        if (r == 0)
            r = write_head(store, err);
    }
    if (r < 0)
        return r;
    al_recent_record_format(record, store->recent.nonce, &text);
    r = write_record(store, &text, size, durable);
    return r < 0 ? failed(-r, err) : 0;
}

int al_recent_add(struct al_store *store, const char *reference, const struct al_oid *commit,
                  const struct al_pack_image *image, bool durable, struct al_error *err)
{
    const struct al_recent_record record = {
        .reference = reference,
        .commit = *commit,
        .pack = image->pack.buf,
        .pack_len = image->pack.len,
        .index = image->index.buf,
        .index_len = image->index.len,
    };
    int r = lock(store->recent.fd, NULL, err);

    if (r < 0)
        return r;
    r = add_locked(store, &record, durable, err);
    unlock(store->recent.fd);
    return r;
}

bool al_recent_is_full(const struct al_store *store)
{
    return store->recent.end > FULL_BYTES || store->recent.count >= FULL_COUNT;
}

int al_recent_settle(struct al_store *store, bool alone, struct al_error *err)
{
    int r;

    if (!al_recent_is_open(store))
        return 0;
    r = lock(store->recent.fd, NULL, err);
    if (r < 0)
        return r;
    r = al_recent_settle_files(store, alone, err);
    if (r == 0)
        r = write_head(store, err);
    unlock(store->recent.fd);
    return r;
}
