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
#include <pthread.h>
#include <unistd.h>

#include "checkpoint/create.h"
#include "gitops/plumbing/index_scan.h"

#define INDEX_MAX_BYTES  (512u << 20)
#define THREAD_MIN_BYTES (1 << 20) /* reading a smaller index takes less time than a thread */
#define MODE_GITLINK     0160000u
#define LINE_BYTES       (AL_OID_TEXT + 16)

/* When so many trees lie in each other, one with all objects begins anew.  Objects that left the
 * index meanwhile are in it no longer. */
#define DEPTH_MAX 64u

/** The entries of an index while they are read. */
struct entries {
    struct al_checkpoint_writer *writer;
    struct al_hash digest;
    struct al_oids oids;
    bool has_marks;
    int status;
    struct al_error why; /* of a status below 0 */
};

static void entries_clear(struct entries *entries)
{
    al_oids_clear(&entries->oids);
    al_error_clear(&entries->why);
}

static int changed_meanwhile(struct al_checkpoint_writer *writer)
{
    return al_error_set(writer->err, AL_ERR_AGAIN, "the index changed while it was read");
}

/* git lists the entries, and the whole tree with them. */
static int needs_all(struct entries *entries)
{
    entries->writer->needs_all = true;
    return al_error_set(&entries->why, AL_ERR_AGAIN, "the index is in a form that only git reads");
}

/* The letter that `git ls-files -v` has for an entry. */
static char tag_of(const struct al_index_entry *entry)
{
    char tag = entry->stage ? 'M' : entry->skip_worktree ? 'S' : 'H';

    return entry->assume_unchanged ? (char)(tag - 'A' + 'a') : tag;
}

/* Write "<tag> SP <mode> SP <oid> SP <stage> TAB", as git does.  printf(3) would take a third of
 * the time that reading an index takes. */
static size_t print_entry(const struct al_index_entry *entry, const struct al_oid *oid, bool sha256,
                          char line[LINE_BYTES])
{
    char *at = line;

    *at++ = tag_of(entry);
    *at++ = ' ';
    for (int shift = 15; shift >= 0; shift -= 3)
        *at++ = (char)('0' + (entry->mode >> shift & 7));
    *at++ = ' ';
    al_oid_text(oid, sha256, at);
    at += 2 * al_oid_bytes(sha256);
    *at++ = ' ';
    *at++ = (char)('0' + entry->stage);
    *at++ = '\t';
    return (size_t)(at - line);
}

/* The digest is that of a checkpoint with a working tree, whose entries git lists.
 *
 * A skip-worktree entry has no file.  Its object stays in the repository, as committed objects do.
 */
static bool add_entry(void *payload, const struct al_index_entry *entry)
{
    struct entries *entries = payload;
    bool sha256 = entries->writer->store->sha256;
    struct al_oid oid = { .bytes = { 0 } };
    char line[LINE_BYTES];

    memcpy(oid.bytes, entry->oid, al_oid_bytes(sha256));
    al_hash_add(&entries->digest, line, print_entry(entry, &oid, sha256, line));
    al_hash_add(&entries->digest, entry->name, strlen(entry->name) + 1);
    entries->has_marks |= entry->assume_unchanged || entry->skip_worktree;
    if (entry->mode != MODE_GITLINK && (entry->stage || !entry->skip_worktree))
        al_oids_add(&entries->oids, &oid);
    entries->status = al_deadline_step(entries->writer->deadline, &entries->why);
    return entries->status == 0;
}

static int read_entries(struct entries *entries, int fd)
{
    size_t oid_bytes = al_oid_bytes(entries->writer->store->sha256);
    enum al_index_end end = al_index_read(fd, oid_bytes, add_entry, entries);

    if (end == AL_INDEX_STOPPED)
        return entries->status;
    return end == AL_INDEX_WHOLE ? 0 : needs_all(entries);
}

/* Add the objects that are in `now` and not in `before`.  Most of the two lists is equal. */
static void find_new(const struct al_oids *before, const struct al_oids *now, struct al_oids *ret)
{
    al_auto(al_oid_set_clear) struct al_oid_set old = { .count = 0 };
    size_t first = 0, from = before->count, to = now->count;

    while (first < from && first < to && al_oid_equal(&before->items[first], &now->items[first]))
        first++;
    while (from > first && to > first &&
           al_oid_equal(&before->items[from - 1], &now->items[to - 1])) {
        from--;
        to--;
    }
    for (size_t i = first; i < from; i++)
        (void)al_oid_set_add(&old, &before->items[i]);
    for (size_t i = first; i < to; i++)
        if (!al_oid_set_has(&old, &now->items[i]))
            al_oids_add(ret, &now->items[i]);
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
static int put_objects(struct al_checkpoint_writer *writer, const struct al_oids *now)
{
    struct al_index_cache *cache = &writer->index_cache;
    bool goes_on =
        cache->reference[0] && !al_oid_is_none(&cache->staged) && cache->depth < DEPTH_MAX;
    const struct al_oids nothing = { .items = NULL };
    al_auto(al_oids_clear) struct al_oids more = { .items = NULL };
    struct al_oid tree = { .bytes = { 0 } };
    int r;

    find_new(goes_on ? &cache->oids : &nothing, now, &more);
    r = al_create_objects(writer, &more, &tree);
    if (r < 0 || (goes_on && al_oid_is_none(&tree)))
        return r;
    cache->depth = goes_on ? cache->depth + 1 : 0;
    if (!goes_on)
        cache->staged = tree;
    return goes_on ? put_both(writer, &cache->staged, &tree, &cache->staged) : 0;
}

/* Write the index file in pieces. */
static int put_bytes(struct al_checkpoint_writer *writer, int fd, const struct stat *before,
                     struct al_oid *ret_tree)
{
    struct stat after;
    uint64_t bytes;
    int r = before->st_size > INDEX_MAX_BYTES
                ? al_error_errno(writer->err, EFBIG, "cannot read the index")
                : al_objects_put_pieces_of(&writer->objects, fd, &bytes, ret_tree, writer->err);

    if (r < 0)
        return r;
    if (fstat(fd, &after) < 0 || (uint64_t)after.st_size != bytes ||
        after.st_ctim.tv_nsec != before->st_ctim.tv_nsec ||
        after.st_ctim.tv_sec != before->st_ctim.tv_sec)
        return changed_meanwhile(writer);
    return 0;
}

/** The reading of the entries, in a thread of its own while the file is cut into pieces. */
struct reading {
    struct entries *entries;
    int fd, status;
};

static void *read_in_thread(void *payload)
{
    struct reading *reading = payload;

    reading->status = read_entries(reading->entries, reading->fd);
    return NULL;
}

/* Read the entries, and write the pieces.  The thread inherits its creator's seccomp filter, if
 * any.  Only it uses the deadline, and its error is its own. */
static int read_and_put(struct entries *entries, int fd, const struct stat *st,
                        struct al_oid *ret_tree)
{
    struct al_checkpoint_writer *writer = entries->writer;
    struct reading reading = { .entries = entries, .fd = fd };
    pthread_t thread;
    bool has_thread = st->st_size >= THREAD_MIN_BYTES &&
                      pthread_create(&thread, NULL, read_in_thread, &reading) == 0;
    int r;

    if (!has_thread)
        (void)read_in_thread(&reading);
    r = has_thread || reading.status == 0 ? put_bytes(writer, fd, st, ret_tree) : 0;
    if (has_thread)
        (void)pthread_join(thread, NULL);
    if (reading.status == 0)
        return r;
    if (writer->err) {
        al_error_clear(writer->err);
        *writer->err = entries->why;
        entries->why = AL_ERROR_INIT;
    }
    return reading.status;
}

/* The cache may be another one by now, of a checkpoint that another process took. */
static void load_objects(struct al_checkpoint_writer *writer)
{
    struct al_index_cache *cache = &writer->index_cache;

    al_index_cache_clear(cache);
    al_index_cache_load(cache, writer->store->dir_fd, writer->store->sha256, true);
    if (!cache->reference[0] || !al_store_has_ref(writer->store, cache->reference))
        al_index_cache_clear(cache);
}

/* Read the index anew.  The cache in `writer` is that of this index afterwards. */
static int put_index(struct al_checkpoint_writer *writer, int fd)
{
    al_auto(entries_clear) struct entries entries = { .writer = writer, .why = AL_ERROR_INIT };
    struct al_oid pieces, end;
    struct al_index_cache *cache = &writer->index_cache;
    int64_t began_ns = al_stat_cache_now_ns();
    struct stat st;
    int r;

    load_objects(writer);
    if (fstat(fd, &st) < 0)
        return al_error_errno(writer->err, errno, "cannot read the index");
    (void)al_index_cache_read_end(fd, &st, writer->store->sha256, &end);
    al_hash_init(&entries.digest, true);
    r = read_and_put(&entries, fd, &st, &pieces);
    if (r == 0)
        r = put_objects(writer, &entries.oids);
    if (r < 0)
        return r;
    writer->changed = true;
    al_oids_clear(&cache->oids);
    cache->oids = entries.oids;
    entries.oids = (struct al_oids){ .items = NULL };
    cache->has_marks = entries.has_marks;
    al_hash_end(&entries.digest, &cache->entries);
    cache->index = (struct al_stat_cache_file){ .racy = false };
    al_stat_cache_fill(&cache->index, &st, began_ns);
    cache->index.oid = pieces;
    cache->end = end;
    return 0;
}

/* A repository without an index has no entries. */
static int put_no_index(struct al_checkpoint_writer *writer)
{
    struct al_hash digest;

    al_index_cache_clear(&writer->index_cache);
    al_hash_init(&digest, true);
    al_hash_end(&digest, &writer->new_head.entries);
    return 0;
}

int al_create_index_alone(struct al_checkpoint_writer *writer, struct al_oid *ret_tree,
                          struct al_oid *ret_staged)
{
    al_auto(al_closep) int fd =
        openat(writer->git_fd, "index", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct al_index_cache *cache = &writer->index_cache;
    struct stat st;
    int r = 0;

    if (fd < 0 && errno == ENOENT)
        return put_no_index(writer);
    if (fd < 0 || fstat(fd, &st) < 0)
        return al_error_errno(writer->err, errno, "cannot read the index");
    al_index_cache_load(cache, writer->store->dir_fd, writer->store->sha256, false);
    if (!cache->reference[0] || !al_store_has_ref(writer->store, cache->reference))
        al_index_cache_clear(cache);
    if (!al_index_cache_is_current(cache, fd, &st, writer->store->sha256))
        r = put_index(writer, fd);
    if (r < 0)
        return r;
    *ret_tree = cache->index.oid;
    *ret_staged = cache->staged;
    writer->new_head.entries = cache->entries;
    return 0;
}
