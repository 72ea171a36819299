// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/index_places.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REMEMBERED      4
#define PLACE_MAX_BYTES (1u << 20)

/** An index that was read. */
struct known {
    struct al_file_id id;
    struct al_oid end;
    size_t oid_bytes;
    struct al_index_places places;
};

static struct known known[REMEMBERED];
static size_t next_known;
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* for both, never held over a file access */

void al_index_places_clear(struct al_index_places *places)
{
    free(places->items);
    al_str_clear(&places->ends);
    *places = AL_INDEX_PLACES_INIT;
}

static void forget(struct known *index)
{
    if (!index->id.exists)
        return;
    al_index_places_clear(&index->places);
    index->id.exists = false;
}

void al_index_places_remember(const struct al_file_id *id, const struct al_oid *end, bool sha256,
                              struct al_index_places *places)
{
    bool good = id->exists && !al_oid_is_none(end) && places->count >= AL_INDEX_PLACES_MIN &&
                places->count <= AL_INDEX_PLACES_MAX;
    struct known *now;

    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < REMEMBERED; i++)
        if (known[i].id.dev == id->dev && known[i].id.ino == id->ino)
            forget(&known[i]);
    if (good) {
        now = &known[next_known++ % REMEMBERED];
        forget(now);
        *now = (struct known){ *id, *end, al_oid_bytes(sha256), *places };
        *places = AL_INDEX_PLACES_INIT;
    }
    (void)pthread_mutex_unlock(&lock);
    al_index_places_clear(places);
}

/* A copy: another thread may forget the index meanwhile. */
static void copy(const struct known *index, struct known *ret)
{
    const struct al_index_places *places = &index->places;

    *ret = *index;
    ret->places.items = al_calloc(places->count, sizeof(*places->items));
    memcpy(ret->places.items, places->items, places->count * sizeof(*places->items));
    ret->places.ends = AL_STR_INIT;
    al_str_add(&ret->places.ends, places->ends.buf, places->ends.len);
}

/* Two changes in one tick leave the same stat data; git writes another checksum for each. */
static bool recall(int fd, size_t oid_bytes, struct al_index_places *ret_places)
{
    struct known was = { .places = AL_INDEX_PLACES_INIT };
    struct al_oid end = { .bytes = { 0 } };
    struct al_file_id id;
    struct stat st;
    bool found = false;

    if (fstat(fd, &st) < 0)
        return false;
    id = al_file_id_from(&st);
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < REMEMBERED && !found; i++) {
        found = al_file_id_equal(&known[i].id, &id) && known[i].oid_bytes == oid_bytes;
        if (found)
            copy(&known[i], &was);
    }
    (void)pthread_mutex_unlock(&lock);
    *ret_places = was.places;
    return found &&
           pread(fd, end.bytes, oid_bytes, st.st_size - (off_t)oid_bytes) == (ssize_t)oid_bytes &&
           al_oid_equal(&end, &was.end);
}

/* --- Reading --- */

/* Add where a path may be: pairs of a first path and one that is behind the last. */
static void add_wanted(const char *path, struct al_strv *ranges)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        al_strv_take(ranges, al_strndup(path, (size_t)(slash - path)));
        al_strv_addf(ranges, "%.*s\x01", (int)(slash - path), path);
    }
    al_strv_add(ranges, path);
    al_strv_addf(ranges, "%s0", path); /* '0' follows '/' */
}

/* Whether a place may have one of the paths.  Sides of a conflict have the same path, so that the
 * last path of a place may also be the first one of the next. */
static bool is_wanted(const struct al_strv *ranges, const char *before, const char *end)
{
    for (size_t i = 0; i < ranges->count; i += 2)
        if (strcmp(end, ranges->items[i]) >= 0 && strcmp(before, ranges->items[i + 1]) < 0)
            return true;
    return false;
}

/** What is read. */
struct reading {
    int fd;
    size_t oid_bytes;
    uint32_t version;
    bool (*give)(void *payload, const struct al_index_entry *entry);
    void *payload;
};

static enum al_index_end read_place(const struct reading *reading,
                                    const struct al_index_place *place, const char *before)
{
    al_auto(al_freep) unsigned char *data = NULL;
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;
    size_t at = 0;

    if (place->bytes > PLACE_MAX_BYTES)
        return AL_INDEX_NOT_UNDERSTOOD;
    data = al_malloc(place->bytes + 1);
    if (pread(reading->fd, data, place->bytes, (off_t)place->offset) != (ssize_t)place->bytes)
        return AL_INDEX_NOT_UNDERSTOOD;
    al_str_adds(&name, before);
    for (uint32_t i = 0; i < place->nentries; i++) {
        struct al_index_entry entry;
        size_t len;

        if (!al_index_parse_entry(data + at, place->bytes - at, reading->version,
                                  reading->oid_bytes, &name, &entry, &len))
            return AL_INDEX_NOT_UNDERSTOOD;
        at += len;
        if (!reading->give(reading->payload, &entry))
            return AL_INDEX_STOPPED;
    }
    return at == place->bytes ? AL_INDEX_WHOLE : AL_INDEX_NOT_UNDERSTOOD;
}

enum al_index_end
al_index_read_near(int fd, size_t oid_bytes, const struct al_strv *paths,
                   bool (*give)(void *payload, const struct al_index_entry *entry), void *payload)
{
    al_auto(al_index_places_clear) struct al_index_places places = AL_INDEX_PLACES_INIT;
    al_auto(al_strv_clear) struct al_strv ranges = AL_STRV_INIT;
    struct reading reading = { fd, oid_bytes, 0, give, payload };
    enum al_index_end end = AL_INDEX_WHOLE;
    const char *before = "";

    if (paths->count > AL_INDEX_NEAR_MAX || !recall(fd, oid_bytes, &places))
        return al_index_read(fd, oid_bytes, give, payload);
    for (size_t i = 0; i < paths->count; i++)
        add_wanted(paths->items[i], &ranges);
    reading.version = places.version;
    for (size_t i = 0; i < places.count && end == AL_INDEX_WHOLE; i++) {
        const char *last = places.ends.buf + places.items[i].end;

        if (is_wanted(&ranges, before, last))
            end = read_place(&reading, &places.items[i], before);
        before = last;
    }
    return end;
}
