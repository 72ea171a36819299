// SPDX-License-Identifier: Apache-2.0
#include "gitops/index/index_stats.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/plumbing/index_scan.h"
#include "util/mem.h"

#define WINDOW_BYTES ((size_t)64 * 1024)
#define MODE_AT      24 /* the place of the mode in the stat data, and then of what follows it */
#define UID_AT       28
#define SIZE_AT      36

/* A part of the file that is being changed. */
struct window {
    int fd;
    int64_t at;
    size_t len;
    unsigned char *bytes;
};

static int write_back(struct window *window)
{
    for (size_t done = 0; done < window->len;) {
        ssize_t put = pwrite(window->fd, window->bytes + done, window->len - done,
                             window->at + (int64_t)done);

        if (put <= 0 && errno != EINTR)
            return -errno;
        done += put > 0 ? (size_t)put : 0;
    }
    window->len = 0;
    return 0;
}

/* Overwrite bytes of the file, at a later place each time. */
static int overwrite(struct window *window, int64_t at, const unsigned char *bytes, size_t len)
{
    ssize_t got;
    int r;

    if (at < window->at || at + (int64_t)len > window->at + (int64_t)window->len) {
        r = write_back(window);
        if (r < 0)
            return r;
        got = pread(window->fd, window->bytes, WINDOW_BYTES, at);
        if (got < (ssize_t)len)
            return got < 0 ? -errno : -ENOTSUP;
        window->at = at;
        window->len = (size_t)got;
    }
    memcpy(window->bytes + (at - window->at), bytes, len);
    return 0;
}

/* An earlier index, read along with the later one. */
struct earlier {
    struct al_index_cursor *cursor; /* NULL: there is none, or no more of it */
    struct al_index_entry entry;
    bool has_entry;
    int64_t time_s; /* git believes entries that are older */
    size_t oid_bytes;
};

static int order(const struct al_index_entry *a, const struct al_index_entry *b)
{
    const int by_name = strcmp(a->name, b->name);

    return by_name ? by_name : (int)a->stage - (int)b->stage;
}

/* The entry of that name in the earlier index; NULL when it has none. */
static const struct al_index_entry *find(struct earlier *from, const struct al_index_entry *entry)
{
    while (from->cursor) {
        if (from->has_entry && order(&from->entry, entry) >= 0)
            return order(&from->entry, entry) == 0 ? &from->entry : NULL;
        from->has_entry = al_index_cursor_next(from->cursor, &from->entry, NULL);
        if (!from->has_entry)
            return NULL;
    }
    return NULL;
}

static bool is_plain(const struct al_index_entry *entry)
{
    return !entry->stage && !entry->skip_worktree && !entry->intent_to_add &&
           (entry->mode & 0170000u) != 0160000u && (entry->mode & 0170000u) != 0040000u;
}

static bool knows(const struct earlier *from, const struct al_index_entry *old,
                  const struct al_index_entry *entry)
{
    return is_plain(old) && is_plain(entry) && old->mode == entry->mode &&
           !memcmp(old->oid, entry->oid, from->oid_bytes) && old->mtime_s < from->time_s;
}

static int set_all(struct al_index_cursor *cursor, uint32_t count, struct window *window,
                   struct earlier *from)
{
    struct al_index_entry entry;
    int64_t at;

    for (; count; count--) {
        unsigned char now[AL_INDEX_STAT_BYTES] = { 0 };
        const struct al_index_entry *old;
        int r;

        if (!al_index_cursor_next(cursor, &entry, &at))
            return -ENOTSUP;
        old = find(from, &entry);
        if (old && knows(from, old, &entry)) {
            memcpy(now, old->stat_data, sizeof(now));
        } else {
            memcpy(now + MODE_AT, entry.stat_data + MODE_AT, UID_AT - MODE_AT);
            memcpy(now + SIZE_AT, entry.stat_data + SIZE_AT, sizeof(now) - SIZE_AT);
        }
        r = overwrite(window, at, now, sizeof(now));
        if (r < 0)
            return r;
    }
    return write_back(window);
}

int al_index_set_stats(int to_fd, int from_fd, bool sha256)
{
    const size_t oid_bytes = sha256 ? 32 : 20;
    uint32_t count, ignored;
    struct stat st;
    al_auto(al_freep) unsigned char *bytes = al_malloc(WINDOW_BYTES);
    al_auto(al_index_cursor_freep) struct al_index_cursor *to =
        al_index_cursor_new(to_fd, oid_bytes, &count);
    al_auto(al_index_cursor_freep) struct al_index_cursor *cursor =
        from_fd < 0 ? NULL : al_index_cursor_new(from_fd, oid_bytes, &ignored);
    struct window window = { .fd = to_fd, .bytes = bytes };
    struct earlier from = { .cursor = cursor, .oid_bytes = oid_bytes };

    if (!to)
        return -ENOTSUP;
    if (cursor && fstat(from_fd, &st) < 0)
        return -errno;
    if (cursor)
        from.time_s = (int64_t)st.st_mtim.tv_sec;
    return set_all(to, count, &window, &from);
}
