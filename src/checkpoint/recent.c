// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/recent.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/recent_file.h"
#include "checkpoint/recent_head.h"
#include "checkpoint/recent_known.h"
#include "checkpoint/recent_old.h"
#include "checkpoint/recent_settle.h"
#include "util/fs.h"

#define FULL_BYTES  (512u << 10)
#define FULL_COUNT  128u
#define LOOSE_MAX   8u /* references that are written as files of their own */
#define LOOSE_BYTES (256u << 10)
#define LOOKS_MAX   100
#define MOST_BYTES  (8u << 20) /* nobody was alone with the store for long */
#define STEP_BYTES  (64u << 10)

static void begin_anew(struct al_recent *recent, uint64_t nonce)
{
    al_recent_forget_refs(recent);
    recent->nonce = nonce;
    recent->end = recent->published = AL_RECENT_HEAD_BYTES;
    recent->count = 0;
}

static int write_head(struct al_store *store, struct al_error *err)
{
    uint64_t nonce;
    int r = al_recent_write_head(store->recent.fd, AL_RECENT_FORMAT, store->sha256, &nonce, err);

    if (r == 0)
        begin_anew(&store->recent, nonce);
    return r;
}

bool al_recent_is_of_this_boot(const struct al_store *store)
{
    char bytes[AL_RECENT_HEAD_BYTES];
    struct al_recent_head head;

    return pread(store->recent.fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
           al_recent_head_parse(bytes, store->sha256, &head) && al_boot_id() &&
           !strcmp(head.boot, al_boot_id());
}

/* Nothing that a newer airlock wrote is touched. */
static int refuse_newer(struct al_store *store, struct al_error *err)
{
    char bytes[AL_RECENT_HEAD_BYTES];

    if (pread(store->recent.fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes) ||
        !al_recent_head_is_newer(bytes))
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "a newer airlock wrote the checkpoints in %s; use that version",
                        store->dir);
}

/* Do what the first user of the store after a boot does.  An empty file was just made: nothing was
 * written without synchronising it. */
static int begin_boot(struct al_store *store, struct al_deadline *deadline, struct al_error *err)
{
    struct stat st;
    int r = 0;

    if (al_recent_is_of_this_boot(store))
        return 0; /* another process was first */
    if (fstat(store->recent.fd, &st) < 0)
        return al_recent_failed(errno, err);
    r = st.st_size ? al_recent_recover_files(store, deadline, err)
                   : al_recent_settle_files(store, false, err);
    if (r == 0)
        r = write_head(store, err);
    if (r == 0 && !st.st_size)
        r = al_fs_sync(store->dir_fd) < 0 ? al_recent_failed(EIO, err) : 0;
    return r;
}

int al_recent_open(struct al_store *store, bool create, struct al_deadline *deadline,
                   struct al_error *err)
{
    int r;

    if (!al_boot_id())
        return 0;
    r = al_recent_take_old(store, deadline, err);
    if (r < 0)
        return r;
    store->recent.fd = openat(store->dir_fd, AL_RECENT_NAME,
                              O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
    if (store->recent.fd < 0)
        return errno == ENOENT && !create ? 0 : al_recent_failed(errno, err);
    if (al_recent_is_of_this_boot(store))
        return 0;
    r = refuse_newer(store, err);
    if (r < 0)
        return r;
    r = al_recent_lock(store->recent.fd, deadline, err);
    if (r < 0)
        return r;
    r = begin_boot(store, deadline, err);
    al_recent_unlock(store->recent.fd);
    return r;
}

bool al_recent_is_open(const struct al_store *store)
{
    return store->recent.fd >= 0;
}

/* The record at an offset.  The last one may be a part that a process was writing when it was
 * killed, or that another process is writing now; one that others follow is whole. */
static size_t whole_record_at(const char *bytes, size_t len, size_t at, uint64_t nonce,
                              struct al_recent_record *ret_record)
{
    struct al_recent_record following;
    size_t next = al_recent_record_at(bytes, len, at, nonce, false, ret_record);

    return !next || al_recent_record_at(bytes, len, next, nonce, false, &following)
               ? next
               : al_recent_record_at(bytes, len, at, nonce, true, ret_record);
}

/* Find the records that are not known yet, and where the next one goes. */
static void walk(struct al_recent *recent, const char *bytes, size_t len, bool sha256)
{
    struct al_recent_head head = { .nonce = 0 };
    struct al_recent_record record;
    uint64_t published;
    size_t next;

    (void)al_recent_head_parse(bytes, sha256, &head);
    if (head.nonce != recent->nonce || !recent->end)
        begin_anew(recent, head.nonce);
    published = al_recent_published_parse(bytes, head.nonce);
    if (published > recent->published)
        recent->published = published;
    while ((next = whole_record_at(bytes, len, (size_t)recent->end, head.nonce, &record))) {
        if (recent->end >= recent->published)
            al_recent_know(recent, sha256, recent->end, &record);
        recent->end = next;
        recent->count++;
    }
}

static int find_end(struct al_store *store, size_t *ret_size, struct al_error *err)
{
    struct stat st;
    void *map;

    if (fstat(store->recent.fd, &st) < 0)
        return al_recent_failed(errno, err);
    *ret_size = (size_t)st.st_size;
    if (*ret_size < AL_RECENT_HEAD_BYTES)
        return al_recent_failed(EIO, err);
    map = mmap(NULL, *ret_size, PROT_READ, MAP_SHARED, store->recent.fd, 0);
    if (map == MAP_FAILED)
        return al_recent_failed(errno, err);
    walk(&store->recent, map, *ret_size, store->sha256);
    (void)munmap(map, *ret_size);
    return 0;
}

/* While another process begins the file anew, records of before and after may be mixed. */
void al_recent_look(struct al_store *store)
{
    struct al_recent_head head = { .nonce = 0 };
    char bytes[AL_RECENT_HEAD_BYTES];
    size_t size;

    for (int i = 0; al_recent_is_open(store) && i < LOOKS_MAX; i++) {
        if (find_end(store, &size, NULL) < 0 ||
            pread(store->recent.fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes) ||
            (al_recent_head_parse(bytes, store->sha256, &head) &&
             head.nonce == store->recent.nonce))
            return;
    }
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
    r = al_recent_write_at(recent->fd, text->buf, text->len, recent->end);
    if (r == 0 && durable && fdatasync(recent->fd) < 0)
        r = -errno;
    if (r < 0) { /* the caller goes on without it */
        static const char nothing[64];

        (void)al_recent_write_at(recent->fd, nothing, len < sizeof(nothing) ? len : sizeof(nothing),
                                 recent->end);
        return r;
    }
    recent->end = end;
    recent->count++;
    return 0;
}

static int settle(struct al_store *store, bool alone, struct al_error *err)
{
    int r = al_recent_settle_files(store, alone, err);

    if (r == 0)
        r = write_head(store, err);
    al_store_look_again(store);
    return r;
}

static int add_locked(struct al_store *store, const struct al_recent_record *record, bool durable,
                      struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    size_t size = 0;
    uint64_t at;
    int r = find_end(store, &size, err);

    if (r == 0 && store->recent.end > MOST_BYTES)
        r = settle(store, false, err);
    if (r < 0)
        return r;
    al_recent_record_format(record, store->recent.nonce, &text);
    at = store->recent.end;
    r = write_record(store, &text, size, durable);
    if (r < 0)
        return al_recent_failed(-r, err);
    al_recent_know(&store->recent, store->sha256, at, record);
    return 0;
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
    int r = al_recent_lock(store->recent.fd, NULL, err);

    if (r < 0)
        return r;
    r = add_locked(store, &record, durable, err);
    al_recent_unlock(store->recent.fd);
    return r;
}

uint64_t al_recent_bytes(const struct al_store *store)
{
    return store->recent.end - store->recent.published;
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
    r = al_recent_lock(store->recent.fd, NULL, err);
    if (r < 0)
        return r;
    r = settle(store, alone, err);
    al_recent_unlock(store->recent.fd);
    return r;
}

/* Note in the head that every record is published. */
static int mark_published(struct al_store *store, struct al_error *err)
{
    struct al_recent *recent = &store->recent;
    char bytes[AL_RECENT_PUBLISHED_BYTES];
    int r;

    al_recent_published_format(recent->nonce, recent->end, bytes);
    r = al_recent_write_at(recent->fd, bytes, sizeof(bytes), AL_RECENT_PUBLISHED_AT);
    if (r < 0)
        return al_recent_failed(-r, err);
    recent->published = recent->end;
    return 0;
}

static int publish_locked(struct al_store *store, struct al_error *err)
{
    const struct al_recent *recent = &store->recent;
    size_t size = 0;
    int r = find_end(store, &size, err);

    if (r < 0 || recent->published >= recent->end)
        return r;
    if (al_recent_count_unpublished(recent) > LOOSE_MAX ||
        recent->end - recent->published > LOOSE_BYTES)
        return settle(store, false, err);
    r = al_recent_publish_files(store, err);
    if (r == 0)
        r = mark_published(store, err);
    al_store_look_again(store);
    return r;
}

int al_recent_publish(struct al_store *store, struct al_error *err)
{
    int r;

    al_recent_look(store);
    if (!al_recent_is_open(store) || store->recent.published >= store->recent.end)
        return 0;
    r = al_recent_lock(store->recent.fd, NULL, err);
    if (r < 0)
        return r;
    r = publish_locked(store, err);
    al_recent_unlock(store->recent.fd);
    return r;
}
