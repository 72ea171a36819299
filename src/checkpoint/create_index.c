// SPDX-License-Identifier: Apache-2.0
/*
 * The index of a checkpoint that has no working tree.
 *
 * Its entries are read without git.  Their objects come from the repository, since no file was
 * read that could have the same content.  A tree of new objects has the tree before it as an entry,
 * so that it costs what is new.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "checkpoint/create.h"
#include "checkpoint/index_pieces.h"
#include "gitops/plumbing/index_facts.h"
#include "gitops/plumbing/index_places.h"

#define INDEX_MAX_BYTES (512u << 20)

/* When so many trees lie in each other, one with all objects begins anew.  Objects that left the
 * index meanwhile are in it no longer. */
#define DEPTH_MAX 64u

/* And when the cache has so many more bytes of ids than twice those that are used. */
#define UNUSED_MAX_BYTES (256u * 1024)

static int changed_meanwhile(struct al_checkpoint_writer *writer)
{
    return al_error_set(writer->err, AL_ERR_AGAIN, "the index changed while it was read");
}

/* git lists the entries, and the whole tree with them. */
static int needs_all(struct al_checkpoint_writer *writer)
{
    writer->needs_all = true;
    return al_error_set(writer->err, AL_ERR_AGAIN, "the index is in a form that only git reads");
}

/* The objects that came with the changes: those that no entry named before. */
static void find_new(const struct al_index_put *put, struct al_oids *ret)
{
    al_auto(al_oid_set_clear) struct al_oid_set gone = { .count = 0 };

    for (size_t i = 0; i < put->gone.count; i++)
        (void)al_oid_set_add(&gone, &put->gone.items[i]);
    for (size_t i = 0; i < put->added.count; i++)
        if (!al_oid_set_has(&gone, &put->added.items[i]))
            al_oids_add(ret, &put->added.items[i]);
}

/* Write a tree with the tree before and the new objects. */
static int put_both(struct al_checkpoint_writer *writer, const struct al_oid *before,
                    const struct al_oid *more, struct al_oid *ret_tree)
{
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;
    bool sha256 = writer->store->sha256;

    al_tree_add(&tree, 040000, "before", before, sha256);
    al_tree_add(&tree, 040000, "new", more, sha256);
    return al_objects_put(&writer->objects, AL_OBJECT_TREE, tree.buf, tree.len, ret_tree,
                          writer->err);
}

/* Make the objects of the entries part of the checkpoint. */
static int put_objects(struct al_checkpoint_writer *writer, const struct al_index_put *put)
{
    struct al_index_cache *cache = &writer->index_cache;
    bool goes_on = put->before != NULL;
    al_auto(al_oids_clear) struct al_oids more = { .items = NULL };
    struct al_oid tree = { .bytes = { 0 } };
    int r;

    find_new(put, &more);
    r = al_create_objects(writer, &more, &tree);
    if (r < 0 || (goes_on && al_oid_is_none(&tree)))
        return r;
    cache->depth = goes_on ? cache->depth + 1 : 0;
    if (!goes_on)
        cache->staged = tree;
    return goes_on ? put_both(writer, &cache->staged, &tree, &cache->staged) : 0;
}

/* Write the index file in pieces. */
static int put_bytes(struct al_checkpoint_writer *writer, struct al_index_put *put,
                     const struct stat *before, struct al_oid *ret_tree)
{
    struct stat after;
    int r = before->st_size > INDEX_MAX_BYTES
                ? al_error_errno(writer->err, EFBIG, "cannot read the index")
                : al_index_put(put, &writer->objects, ret_tree, writer->err);

    if (r < 0)
        return r;
    if (fstat(put->fd, &after) < 0 || (uint64_t)after.st_size != put->bytes ||
        after.st_ctim.tv_nsec != before->st_ctim.tv_nsec ||
        after.st_ctim.tv_sec != before->st_ctim.tv_sec)
        return changed_meanwhile(writer);
    return put->end == AL_INDEX_WHOLE ? 0 : needs_all(writer);
}

/* Test whether this checkpoint can add to the one before, or begins with everything anew. */
static bool goes_on(const struct al_index_cache *cache, bool sha256)
{
    uint64_t used = 0;

    for (size_t i = 0; i < cache->pieces.count; i++)
        used += cache->pieces.items[i].noids * (uint64_t)al_oid_bytes(sha256);
    return cache->reference[0] && !al_oid_is_none(&cache->staged) && cache->depth < DEPTH_MAX &&
           cache->oids_at <= 2 * used + UNUSED_MAX_BYTES;
}

/* Load the cache.  It may be another one by now, of a checkpoint that another process took. */
static void load_cache(struct al_checkpoint_writer *writer)
{
    struct al_index_cache *cache = &writer->index_cache;

    al_index_cache_clear(cache);
    al_index_cache_load(cache, writer->store->dir_fd, writer->store->sha256);
    if (!cache->reference[0] || !al_store_has_ref(writer->store, cache->reference))
        al_index_cache_clear(cache);
}

/* The index was read whole: others need not read it for these. */
static void tell(const struct al_file_id *id, const struct al_oid *end, bool sha256, unsigned flags,
                 const struct al_index_pieces *pieces)
{
    const struct al_index_facts facts = { .marks = flags & AL_INDEX_MARKS,
                                          .gitlinks = flags & AL_INDEX_GITLINKS,
                                          .conflicts = flags & AL_INDEX_CONFLICTS,
                                          .names_only = flags & AL_INDEX_NAMES_ONLY };
    struct al_index_places places = AL_INDEX_PLACES_INIT;

    al_index_facts_remember(id, end, sha256, &facts);
    al_index_pieces_places(pieces, &places);
    al_index_places_remember(id, end, sha256, &places);
}

/* The files that the execution can change. */
static int put_only(struct al_checkpoint_writer *writer, struct al_checkpoint_trees *trees)
{
    const struct al_strv *only = writer->reason->only;

    return only && only->count ? al_create_files(writer, only, trees) : 0;
}

/* Read the index anew.  The cache in `writer` is that of this index afterwards. */
static int put_index(struct al_checkpoint_writer *writer, int fd, struct al_checkpoint_trees *trees)
{
    al_auto(al_index_put_clear) struct al_index_put put = AL_INDEX_PUT_INIT;
    struct al_oid tree, end;
    struct al_index_cache *cache = &writer->index_cache;
    int64_t began_ns = al_stat_cache_now_ns();
    struct al_file_id id;
    struct stat st;
    int r;

    load_cache(writer);
    if (!goes_on(cache, writer->store->sha256))
        al_index_cache_clear(cache);
    if (fstat(fd, &st) < 0)
        return al_error_errno(writer->err, errno, "cannot read the index");
    (void)al_index_cache_read_end(fd, &st, writer->store->sha256, &end);
    put.fd = fd;
    put.before = cache->reference[0] ? &cache->pieces : NULL;
    put.before_fd = cache->fd;
    put.before_room = cache->room;
    put.oids_at = cache->oids_at;
    put.deadline = writer->deadline;
    r = put_bytes(writer, &put, &st, &tree);
    if (r < 0)
        return r;
    id = al_file_id_from(&st);
    tell(&id, &end, writer->store->sha256, put.flags, &put.now);
    /* Files before the objects: most of what is new in the index is one of them. */
    r = put_only(writer, trees);
    if (r == 0)
        r = put_objects(writer, &put);
    if (r < 0)
        return r;
    writer->changed = true;
    al_index_pieces_clear(&cache->pieces);
    cache->pieces = put.now;
    put.now = AL_INDEX_PIECES_INIT;
    cache->oids = put.oids;
    put.oids = AL_STR_INIT;
    cache->flags = put.flags;
    cache->index = (struct al_stat_cache_file){ .racy = false };
    al_stat_cache_fill(&cache->index, &st, began_ns);
    cache->index.oid = tree;
    cache->end = end;
    return 0;
}

int al_create_index_alone(struct al_checkpoint_writer *writer, struct al_checkpoint_trees *trees)
{
    al_auto(al_closep) int fd =
        openat(writer->git_fd, "index", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct al_index_cache *cache = &writer->index_cache;
    struct stat st;
    int r = 0;

    if (fd < 0 && errno == ENOENT) {
        al_index_cache_clear(cache);
        return put_only(writer, trees);
    }
    if (fd < 0 || fstat(fd, &st) < 0)
        return al_error_errno(writer->err, errno, "cannot read the index");
    load_cache(writer);
    if (al_index_cache_is_current(cache, fd, &st, writer->store->sha256)) {
        tell(&cache->index.id, &cache->end, writer->store->sha256, cache->flags, &cache->pieces);
        r = put_only(writer, trees);
    } else {
        r = put_index(writer, fd, trees);
    }
    trees->index = cache->index.oid;
    trees->staged = cache->staged;
    return r;
}
