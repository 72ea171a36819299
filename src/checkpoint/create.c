// SPDX-License-Identifier: Apache-2.0
/*
 * Taking a checkpoint: read everything, write what is new, then make it visible.
 *
 * The order makes a kill at any point harmless: first the objects, then what the repository is
 * about to lose, then the reference that names the checkpoint, and last the stat cache.
 */
#include "checkpoint/create.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "gitops/deadline.h"
#include "gitops/location.h"
#include "gitops/vet/vet.h"

#define ATTEMPTS_MAX 3

void al_checkpoint_writer_clear(struct al_checkpoint_writer *writer)
{
    al_prefetch_free(writer->prefetch); /* before the cache that it reads */
    al_close(writer->top_fd);
    al_close(writer->git_fd);
    al_close(writer->common_fd);
    al_objects_clear(&writer->objects);
    al_stat_cache_clear(&writer->cache);
    al_stat_cache_writer_clear(&writer->new_cache);
    al_index_cache_clear(&writer->index_cache);
    al_collected_files_clear(&writer->collected);
    al_worktree_files_clear(&writer->worktree);
    al_refs_clear(&writer->refs);
    al_gitdir_files_clear(&writer->gitdir);
}

static int open_parts(struct al_checkpoint_writer *writer)
{
    const struct al_repo *repo = writer->store->repo;
    int r = al_location_open_top(&repo->at, &writer->top_fd, writer->err);

    if (r == 0)
        r = al_location_open_git_dir(&repo->at, &writer->git_fd, writer->err);
    if (r == 0)
        r = al_location_open_common_dir(&repo->at, &writer->common_fd, writer->err);
    return r;
}

/* The cache is that of one checkpoint.  While this checkpoint exists, the store has every object
 * that the cache names. */
static void load_cache(struct al_checkpoint_writer *writer)
{
    struct al_stat_cache *cache = &writer->cache;

    al_stat_cache_load(cache, writer->store->dir_fd, writer->store->sha256);
    writer->new_head = cache->head;
    writer->cache_is_valid =
        cache->head.reference[0] && al_store_has_ref(writer->store, cache->head.reference);
    writer->changed = !writer->cache_is_valid;
    for (size_t i = 0; writer->cache_is_valid && i < cache->nknown; i++) {
        struct al_oid oid;

        al_stat_cache_known(cache, i, &oid);
        al_objects_know(&writer->objects, &oid);
    }
}

/* The names come from the index, so the index must not change between listing and reading it. */
static int collect(struct al_checkpoint_writer *writer, struct al_oid *ret_index)
{
    const struct al_checkpoint_settings *settings = writer->store->settings;
    struct al_file_id ids[2] = { { .exists = false }, { .exists = false } };
    bool known = false;
    struct stat st;
    int r;

    if (fstatat(writer->git_fd, "index", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        ids[0] = al_file_id_from(&st);
        known = writer->cache_is_valid && al_stat_cache_is_current(&writer->cache.head.index, &st);
    }
    r = al_collect_files(writer->store->repo, writer->top_fd, settings->include_ignored, !known,
                         writer->deadline, &writer->collected, writer->err);
    if (r == 0)
        r = al_create_index(writer, ret_index);
    if (r < 0)
        return r;
    if (fstatat(writer->git_fd, "index", &st, AT_SYMLINK_NOFOLLOW) == 0)
        ids[1] = al_file_id_from(&st);
    if (!known)
        writer->new_head.entries = writer->collected.entries;
    return al_file_id_equal(&ids[0], &ids[1])
               ? 0
               : al_error_set(writer->err, AL_ERR_AGAIN, "the index changed while it was read");
}

static int put_worktree(struct al_checkpoint_writer *writer, struct al_oid *ret_tree)
{
    const struct al_checkpoint_settings *settings = writer->store->settings;
    int r;

    al_prefetch_wait(writer->prefetch);
    r = al_worktree_read(
        &(struct al_worktree_source){
            .top_fd = writer->top_fd,
            .top = writer->store->repo->at.top,
            .names = &writer->collected.names,
            .max_file_bytes = settings->max_file_bytes,
            .max_store_bytes = settings->max_store_bytes,
            .objects = &writer->objects,
            .cache = &writer->cache,
            .prefetch = writer->prefetch,
            .cache_is_valid = writer->cache_is_valid,
            .changed = &writer->changed,
            .deadline = writer->deadline,
        },
        &writer->worktree, writer->err);

    return r < 0 ? r
                 : al_tree_put(&writer->objects, writer->worktree.files, writer->worktree.count,
                               ret_tree, writer->err);
}

static int put_refs(struct al_checkpoint_writer *writer, struct al_oid *ret_tree)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const struct al_location *at = &writer->store->repo->at;
    bool linked = strcmp(at->git_dir, at->common_dir) != 0;
    int r = al_refs_read(writer->common_fd, linked ? writer->git_fd : -1, writer->store->sha256,
                         writer->deadline, &writer->refs, writer->err);

    if (r < 0)
        return r;
    al_refs_dump(&writer->refs, &text);
    return al_objects_put_pieces(&writer->objects, text.buf, text.len, ret_tree, writer->err);
}

static int put_state(struct al_checkpoint_writer *writer, struct al_oid *ret_tree)
{
    int r = al_gitdir_read(writer->git_fd, writer->common_fd, writer->deadline, &writer->gitdir,
                           writer->err);

    if (r == 0 && writer->linked && writer->linked->count)
        al_linked_add_state(writer->linked, writer->reason->linked, &writer->gitdir);
    return r < 0 ? r : al_create_state(writer, ret_tree);
}

static bool has(const struct al_checkpoint_writer *writer, enum al_checkpoint_parts part)
{
    return !(writer->without & part);
}

/* The index, and the files that the execution can change. */
static int put_some_files(struct al_checkpoint_writer *writer, struct al_checkpoint_trees *trees)
{
    const struct al_strv *only = writer->reason->only;
    bool any = only && only->count;
    int r = al_create_index_alone(writer, trees);

    /* Lists of changed files have no file that is marked as unchanged. */
    return r == 0 && any && (writer->index_cache.flags & AL_INDEX_MARKS)
               ? al_create_needs_all(writer)
               : r;
}

/* The working tree and the index, as far as the checkpoint has them. */
static int put_files(struct al_checkpoint_writer *writer, struct al_checkpoint_trees *trees)
{
    int r;

    if (!has(writer, AL_PARTS_INDEX))
        return 0;
    if (!has(writer, AL_PARTS_WORKTREE))
        return put_some_files(writer, trees);
    load_cache(writer);
    writer->prefetch = al_prefetch_begin(&writer->cache, writer->top_fd);
    r = collect(writer, &trees->index);
    if (r == 0)
        r = put_worktree(writer, &trees->worktree);
    return r < 0 ? r : al_create_staged(writer, &trees->staged);
}

static int put_parts(struct al_checkpoint_writer *writer, struct al_checkpoint_trees *trees)
{
    int r = put_files(writer, trees);

    if (r == 0 && writer->store->repo->vetting->has_reftable)
        r = al_error_set(writer->err, AL_ERR_EXECUTION,
                         "the repository keeps its references in a form airlock does not read");
    if (r == 0 && has(writer, AL_PARTS_REFS))
        r = put_refs(writer, &trees->refs);
    if (r == 0)
        r = put_state(writer, &trees->state);
    if (r == 0)
        r = al_create_about(writer, trees);
    if (r < 0 || !writer->reason->overwriting || !writer->reason->ret_missing)
        return r;
    al_strv_clear(writer->reason->ret_missing);
    return al_create_find_missing(writer, writer->reason->ret_missing);
}

static int put_root(struct al_checkpoint_writer *writer, const struct al_checkpoint_trees *trees,
                    struct al_oid *ret_tree)
{
    const struct {
        const char *name;
        unsigned mode;
        const struct al_oid *oid;
    } entries[] = {
        { "about", 0100644, &trees->about },      { "index", 040000, &trees->index },
        { "left-out", 040000, &trees->left_out }, { "modes", 040000, &trees->modes },
        { "paths", 040000, &trees->paths },       { "refs", 040000, &trees->refs },
        { "staged", 040000, &trees->staged },     { "state", 040000, &trees->state },
        { "worktree", 040000, &trees->worktree },
    };
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;

    for (size_t i = 0; i < AL_COUNT(entries); i++)
        if (!al_oid_is_none(entries[i].oid))
            al_tree_add(&tree, entries[i].mode, entries[i].name, entries[i].oid,
                        writer->store->sha256);
    return al_objects_put(&writer->objects, AL_OBJECT_TREE, tree.buf, tree.len, ret_tree,
                          writer->err);
}

static int put_commit(struct al_checkpoint_writer *writer, const struct al_oid *tree,
                      struct al_oid *ret_commit)
{
    static const char who[] = "airlock <airlock@localhost>";
    const struct al_checkpoint_reason *reason = writer->reason;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    long long now = (long long)time(NULL);
    char tree_text[AL_OID_TEXT];
    uint64_t nonce;

    if (getrandom(&nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
        return al_error_errno(writer->err, errno, "cannot get random bytes");
    al_oid_text(tree, writer->store->sha256, tree_text);
    al_str_addf(&text, "tree %s\n", tree_text);
    if (reason->before)
        al_str_addf(&text, "parent %s\n", reason->before);
    al_str_addf(&text, "author %s %lld +0000\ncommitter %s %lld +0000\n\n", who, now, who, now);
    al_str_addf(&text, "%s %s %s\n\n%" PRId64 " %016" PRIx64 "\n",
                reason->before ? "after" : "before", reason->tool, reason->operation,
                al_stat_cache_now_ns(), nonce);
    return al_objects_put(&writer->objects, AL_OBJECT_COMMIT, text.buf, text.len, ret_commit,
                          writer->err);
}

/* The first checkpoint of a large working tree may take longer than one call has.  The next call
 * then continues with what this one read.  No reference names these objects, so each is looked up
 * in the store before it is relied on. */
static void save_progress(struct al_checkpoint_writer *writer)
{
    if (!has(writer, AL_PARTS_WORKTREE) || writer->cache_is_valid ||
        writer->worktree.count <= writer->cache.nfiles ||
        al_objects_finish(&writer->objects, NULL) < 0)
        return;
    writer->new_head = (struct al_stat_cache_head){ .reference = "" };
    al_checkpoint_save_cache(writer, "");
    al_store_look_again(writer->store);
}

static int write_once(struct al_checkpoint_writer *writer)
{
    struct al_checkpoint_trees trees = { .about = { .bytes = { 0 } } };
    int r = open_parts(writer);

    if (r == 0)
        r = put_parts(writer, &trees);
    if (r == 0)
        r = put_root(writer, &trees, &writer->root);
    if (r == 0)
        r = put_commit(writer, &writer->root, &writer->commit);
    if (r == 0 && writer->objects.quarantine_fd >= 0)
        r = al_objects_finish(&writer->objects, writer->err);
    return r;
}

int al_checkpoint_write(struct al_checkpoint_writer *writer, struct al_store *store,
                        const struct al_checkpoint_reason *reason, const struct al_linked *linked,
                        int quarantine_fd, struct al_deadline *deadline, struct al_error *err)
{
    unsigned without =
        reason->without & AL_PARTS_WORKTREE ? reason->without : reason->without & AL_PARTS_REFS;
    int r = AL_ERR_AGAIN;

    for (int attempt = 0; attempt < ATTEMPTS_MAX && r == AL_ERR_AGAIN; attempt++) {
        if (err)
            al_error_clear(err);
        if (writer->needs_all)
            without &= AL_PARTS_REFS;
        al_checkpoint_writer_clear(writer);
        *writer = AL_CHECKPOINT_WRITER_INIT;
        writer->without = without;
        writer->store = store;
        writer->reason = reason;
        writer->linked = linked;
        writer->deadline = deadline;
        writer->err = err;
        al_objects_init(&writer->objects, store->pack_fd, quarantine_fd, store->sha256);
        al_objects_ask(&writer->objects, al_store_has_object, store);
        r = write_once(writer);
    }
    return r;
}

int al_checkpoint_result(int r, struct al_error *err)
{
    al_auto(al_freep) char *why = NULL;

    if (r == 0 || r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED)
        return r;
    why = err ? al_take(&err->message) : NULL;
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_SNAPSHOT_DISABLED,
                             "No checkpoint can be taken: %s", why ? why : "");
}

int al_checkpoint_create(struct al_store *store, const struct al_checkpoint_reason *reason,
                         struct al_run_limits *budget, char ret_id[AL_OID_TEXT],
                         struct al_error *err)
{
    al_auto(al_checkpoint_writer_clear) struct al_checkpoint_writer writer =
        AL_CHECKPOINT_WRITER_INIT;
    al_auto(al_linked_clear) struct al_linked linked = { .texts = NULL };
    struct al_deadline deadline;
    int r = al_linked_read(store, reason, budget, &linked, err);

    deadline = al_deadline_begin(budget);
    if (r == 0)
        r = al_checkpoint_write(&writer, store, reason, &linked, -1, &deadline, err);
    if (r == 0)
        r = al_checkpoint_publish(&writer, reason->dropping);
    if (r == AL_ERR_TIMEOUT)
        save_progress(&writer);
    if (r == 0)
        al_oid_text(&writer.commit, store->sha256, ret_id);
    if (r == 0 && reason->ret_without)
        *reason->ret_without = writer.without;
    al_deadline_sync(&deadline);
    return al_checkpoint_result(r, err);
}
