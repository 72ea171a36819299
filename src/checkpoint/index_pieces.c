// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/index_pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "checkpoint/index_same.h"
#include "checkpoint/stat_cache.h"
#include "odb/pieces.h"

#define PIECE_MIN_BYTES 2048u
#define PIECE_MAX_BYTES (48u * 1024) /* the entry that exceeds it is the last one */
/* A piece ends after one of so many paths, beyond the minimum: after about 10 KiB. */
#define CUT_MASK     127u
#define ROOM_BYTES   (PIECE_MAX_BYTES + AL_INDEX_ENTRY_MAX_BYTES)
#define READ_BYTES   (256u * 1024)
#define VERSION_MAX  4u

#define MODE_GITLINK 0160000u

void al_index_pieces_clear(struct al_index_pieces *pieces)
{
    free(pieces->items);
    al_str_clear(&pieces->ends);
    *pieces = AL_INDEX_PIECES_INIT;
}

void al_index_pieces_places(const struct al_index_pieces *pieces,
                            struct al_index_places *ret_places)
{
    uint64_t offset = AL_INDEX_HEADER_BYTES;
    size_t end = 0;

    *ret_places = AL_INDEX_PLACES_INIT;
    ret_places->version = pieces->version;
    ret_places->count = pieces->count;
    ret_places->items = al_calloc(pieces->count + 1, sizeof(*ret_places->items));
    al_str_add(&ret_places->ends, pieces->ends.buf, pieces->ends.len);
    for (size_t i = 0; i < pieces->count; i++) {
        const struct al_index_piece *piece = &pieces->items[i];

        ret_places->items[i] =
            (struct al_index_place){ offset, piece->bytes, piece->nentries, (uint32_t)end };
        offset += piece->bytes;
        end += strlen(pieces->ends.buf + end) + 1;
    }
}

void al_index_put_clear(struct al_index_put *put)
{
    al_index_pieces_clear(&put->now);
    al_oids_clear(&put->added);
    al_oids_clear(&put->gone);
    al_str_clear(&put->oids);
}

/** An index while it is read. */
struct walk {
    struct al_index_put *put;
    struct al_pieces pieces;
    size_t oid_bytes;
    uint32_t entries_left;
    unsigned char *buffer; /* READ_BYTES */
    size_t from, have;     /* what was read and is in no piece yet */
    uint64_t offset;       /* of `from` in the file */
    bool ended;            /* the file has no more */
    struct al_str name;    /* of the last entry */
    size_t next, next_end; /* the next piece of the index before, and where its path is */
    struct al_index_same *same;
    struct al_error *err;
};

static void walk_clear(struct walk *walk)
{
    al_index_same_free(walk->same);
    free(walk->buffer);
    al_str_clear(&walk->name);
}

/* Read on unless there is enough for a piece. */
static int refill(struct walk *walk)
{
    if (walk->ended || walk->have - walk->from >= ROOM_BYTES)
        return 0;
    memmove(walk->buffer, walk->buffer + walk->from, walk->have - walk->from);
    walk->have -= walk->from;
    walk->from = 0;
    while (walk->have < READ_BYTES) {
        ssize_t n = pread(walk->put->fd, walk->buffer + walk->have, READ_BYTES - walk->have,
                          (off_t)(walk->offset + walk->have));

        if (n < 0 && errno != EINTR)
            return al_error_errno(walk->err, errno, "cannot read the index");
        if (n == 0)
            break;
        if (n > 0)
            walk->have += (size_t)n;
    }
    walk->ended = walk->have < READ_BYTES;
    return 0;
}

static void consume(struct walk *walk, size_t bytes)
{
    walk->from += bytes;
    walk->offset += bytes;
}

static void add_piece(struct al_index_pieces *pieces, const struct al_index_piece *piece,
                      const char *end)
{
    if (pieces->count == pieces->capacity) {
        pieces->capacity = pieces->capacity ? 2 * pieces->capacity : 64;
        pieces->items = al_reallocarray(pieces->items, pieces->capacity, sizeof(*pieces->items));
    }
    pieces->items[pieces->count++] = *piece;
    al_str_add(&pieces->ends, end, strlen(end) + 1);
}

/* --- The pieces of the index before --- */

static const struct al_index_piece *candidate(const struct walk *walk)
{
    const struct al_index_pieces *before = walk->put->before;

    return before && walk->next < before->count ? &before->items[walk->next] : NULL;
}

static const char *candidate_end(const struct walk *walk)
{
    return walk->put->before->ends.buf + walk->next_end;
}

static void leave_candidate(struct walk *walk)
{
    walk->next_end += strlen(candidate_end(walk)) + 1;
    walk->next++;
}

/* The candidate is no piece of this index.  If its objects cannot be read, they count as new when
 * they are named again. */
static void drop_candidate(struct walk *walk)
{
    const struct al_index_piece *piece = candidate(walk);
    size_t len = piece->noids * walk->oid_bytes;
    al_auto(al_freep) char *oids = NULL;

    leave_candidate(walk);
    if (walk->put->before_fd < 0 || piece->noids > piece->bytes / walk->oid_bytes)
        return;
    oids = al_malloc(len + 1);
    if (pread(walk->put->before_fd, oids, len, (off_t)(walk->put->before_room + piece->oids_at)) !=
            (ssize_t)len ||
        al_stat_cache_sum(oids, len) != piece->oids_sum)
        return;
    for (size_t at = 0; at < len; at += walk->oid_bytes) {
        struct al_oid oid = { .bytes = { 0 } };

        memcpy(oid.bytes, oids + at, walk->oid_bytes);
        al_oids_add(&walk->put->gone, &oid);
    }
}

/* Test whether the index goes on with the candidate.  The same bytes after the same path are the
 * same entries. */
static bool is_next(const struct walk *walk, const struct al_index_piece *piece)
{
    const struct al_index_pieces *before = walk->put->before;
    /* Paths end with NULs, so the one before begins after the NUL before its own. */
    size_t end = walk->next_end, begin = end ? end - 1 : 0;
    struct al_oid oid;

    while (begin && before->ends.buf[begin - 1])
        begin--;
    if (before->version != walk->put->now.version || piece->bytes > walk->have - walk->from ||
        piece->nentries > walk->entries_left ||
        (!(piece->flags & AL_INDEX_CUT) && piece->nentries != walk->entries_left) ||
        strcmp(end ? before->ends.buf + begin : "", walk->name.buf) != 0)
        return false;
    if (al_index_same_has(walk->same, walk->next, walk->offset))
        return true;
    al_oid_of(walk->oid_bytes == 32, AL_OBJECT_BLOB, walk->buffer + walk->from, piece->bytes, &oid);
    return al_oid_equal(&oid, &piece->oid);
}

static void take_candidate(struct walk *walk, const struct al_index_piece *piece)
{
    struct al_index_pieces *now = &walk->put->now;
    const char *end = candidate_end(walk);

    add_piece(now, piece, end);
    al_objects_know(walk->pieces.objects, &piece->oid);
    al_pieces_add(&walk->pieces, &piece->oid);
    al_str_reset(&walk->name);
    al_str_adds(&walk->name, end);
    walk->entries_left -= piece->nentries;
    walk->put->flags |= piece->flags;
    consume(walk, piece->bytes);
    leave_candidate(walk);
}

/* --- New pieces --- */

/* Paths that are like each other get numbers that are not (FNV-1a). */
static bool is_last_path(const char *path)
{
    uint32_t hash = 2166136261u;

    for (; *path; path++)
        hash = (hash ^ (unsigned char)*path) * 16777619u;
    return ((hash ^ hash >> 15) & CUT_MASK) == 0;
}

/* A skip-worktree entry has no file.  Its object stays in the repository, as committed objects do.
 */
static void add_entry(struct walk *walk, struct al_index_piece *piece,
                      const struct al_index_entry *entry)
{
    struct al_oid oid = { .bytes = { 0 } };

    piece->nentries++;
    piece->flags |= entry->assume_unchanged || entry->skip_worktree ? AL_INDEX_MARKS : 0u;
    piece->flags |= entry->mode == MODE_GITLINK ? AL_INDEX_GITLINKS : 0u;
    piece->flags |= entry->stage ? AL_INDEX_CONFLICTS : 0u;
    piece->flags |= entry->intent_to_add ? AL_INDEX_NAMES_ONLY : 0u;
    if (entry->mode == MODE_GITLINK || (!entry->stage && entry->skip_worktree))
        return;
    memcpy(oid.bytes, entry->oid, walk->oid_bytes);
    al_oids_add(&walk->put->added, &oid);
    al_str_add(&walk->put->oids, entry->oid, walk->oid_bytes);
    piece->noids++;
}

/* Parse the entries up to the end of the piece; false when they are not understood. */
static int parse_piece(struct walk *walk, struct al_index_piece *piece, bool *ret_understood)
{
    const unsigned char *data = walk->buffer + walk->from;
    int r = 0;

    *ret_understood = true;
    while (r == 0 && piece->nentries < walk->entries_left && !(piece->flags & AL_INDEX_CUT)) {
        struct al_index_entry entry;
        size_t len;

        *ret_understood = al_index_parse_entry(
            data + piece->bytes, walk->have - walk->from - piece->bytes, walk->put->now.version,
            walk->oid_bytes, &walk->name, &entry, &len);
        if (!*ret_understood)
            return 0;
        if (entry.name != walk->name.buf) {
            al_str_reset(&walk->name);
            al_str_adds(&walk->name, entry.name);
        }
        add_entry(walk, piece, &entry);
        piece->bytes += (uint32_t)len;
        if (piece->bytes >= PIECE_MAX_BYTES ||
            (piece->bytes >= PIECE_MIN_BYTES && is_last_path(entry.name)))
            piece->flags |= AL_INDEX_CUT;
        r = al_deadline_step(walk->put->deadline, walk->err);
    }
    return r;
}

static int put_new_piece(struct walk *walk, bool *ret_understood)
{
    struct al_index_piece piece;
    size_t first = walk->put->oids.len;
    int r;

    memset(&piece, 0, sizeof(piece)); /* padding is written to the disk too */
    piece.oids_at = walk->put->oids_at + first;
    r = parse_piece(walk, &piece, ret_understood);
    if (r < 0 || !*ret_understood)
        return r;
    piece.oids_sum = al_stat_cache_sum(walk->put->oids.buf + first, walk->put->oids.len - first);
    r = al_pieces_put(&walk->pieces, walk->buffer + walk->from, piece.bytes, &piece.oid, walk->err);
    add_piece(&walk->put->now, &piece, walk->name.buf);
    walk->entries_left -= piece.nentries;
    walk->put->flags |= piece.flags;
    consume(walk, piece.bytes);
    /* Paths are in order. */
    while (candidate(walk) && strcmp(candidate_end(walk), walk->name.buf) <= 0)
        drop_candidate(walk);
    return r;
}

/* --- The whole file --- */

static int put_header(struct walk *walk, bool *ret_understood)
{
    struct al_oid oid;
    int r = refill(walk);

    *ret_understood =
        r == 0 && walk->have >= AL_INDEX_HEADER_BYTES &&
        al_index_parse_header(walk->buffer, &walk->put->now.version, &walk->entries_left);
    if (!*ret_understood)
        return r;
    r = al_pieces_put(&walk->pieces, walk->buffer, AL_INDEX_HEADER_BYTES, &oid, walk->err);
    consume(walk, AL_INDEX_HEADER_BYTES);
    return r;
}

static int put_entries(struct walk *walk, bool *ret_understood)
{
    int r = put_header(walk, ret_understood);

    while (r == 0 && *ret_understood && walk->entries_left) {
        const struct al_index_piece *piece = candidate(walk);

        r = refill(walk);
        if (r < 0)
            return r;
        if (!piece || !is_next(walk, piece)) {
            r = put_new_piece(walk, ret_understood);
            continue;
        }
        take_candidate(walk, piece);
        r = al_deadline_step(walk->put->deadline, walk->err);
    }
    while (candidate(walk))
        drop_candidate(walk);
    return r;
}

int al_index_put(struct al_index_put *put, struct al_objects *objects, struct al_oid *ret_tree,
                 struct al_error *err)
{
    al_auto(walk_clear) struct walk walk = { .put = put,
                                             .pieces = al_pieces_begin(objects),
                                             .oid_bytes = al_oid_bytes(objects->sha256),
                                             .buffer = al_malloc(READ_BYTES),
                                             .name = AL_STR_INIT,
                                             .same = al_index_same_begin(put->fd, put->before,
                                                                         objects->sha256),
                                             .err = err };
    bool understood;
    int r = put_entries(&walk, &understood);

    put->end = AL_INDEX_NOT_UNDERSTOOD;
    if (r == 0 && understood)
        put->end = al_index_read_extensions(put->fd, (int64_t)walk.offset, walk.oid_bytes);
    if (r == 0)
        r = al_pieces_put_rest(&walk.pieces, put->fd, walk.offset, &put->bytes, err);
    return al_pieces_end(&walk.pieces, r, ret_tree, err);
}
