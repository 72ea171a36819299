// SPDX-License-Identifier: Apache-2.0
/*
 * Taking a checkpoint: read everything, write what is new, then make it visible.
 *
 * The order is what makes a kill at any point harmless: objects, the reference that names them, and
 * last the note of what was seen.
 */
#include "checkpoint/create.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "checkpoint/pin.h"
#include "gitops/deadline.h"
#include "gitops/location.h"
#include "gitops/vet.h"

#define ATTEMPTS_MAX 3

static void taking_clear(struct al_checkpoint_writer *taking)
{
    al_prefetch_free(taking->ahead); /* before what it looks at */
    al_close(taking->top_fd);
    al_close(taking->git_fd);
    al_close(taking->common_fd);
    al_objects_clear(&taking->objects);
    al_stat_cache_clear(&taking->seen);
    al_stat_cache_writer_clear(&taking->next);
    al_gathered_clear(&taking->gathered);
    al_tree_files_clear(&taking->worktree);
    al_refs_clear(&taking->refs);
    al_gitdir_files_clear(&taking->files);
}

static int open_parts(struct al_checkpoint_writer *taking)
{
    const struct al_repo *repo = taking->store->repo;
    int r = al_location_open_top(&repo->at, &taking->top_fd, taking->err);

    if (r == 0)
        r = al_location_open_git_dir(&repo->at, &taking->git_fd, taking->err);
    if (r == 0)
        r = al_location_open_common_dir(&repo->at, &taking->common_fd, taking->err);
    return r;
}

/* What was seen is from a checkpoint; while that is there, so is everything it names. */
static void load_seen(struct al_checkpoint_writer *taking)
{
    struct al_stat_cache *seen = &taking->seen;

    al_stat_cache_load(seen, taking->store->dir_fd, taking->store->sha256);
    taking->head = seen->head;
    taking->seen_is_sure =
        seen->head.reference[0] && al_store_has_ref(taking->store, seen->head.reference);
    taking->changed = !taking->seen_is_sure;
    for (size_t i = 0; taking->seen_is_sure && i < seen->nknown; i++) {
        struct al_oid oid;

        al_stat_cache_known(seen, i, &oid);
        al_objects_know(&taking->objects, &oid);
    }
}

/* The names come from the index, so it may not change between their listing and its reading. */
static int gather(struct al_checkpoint_writer *taking, struct al_oid *ret_index)
{
    const struct al_checkpoint_settings *settings = taking->store->settings;
    struct al_file_id ids[2] = { { .exists = false }, { .exists = false } };
    bool known = false;
    struct stat st;
    int r;

    if (fstatat(taking->git_fd, "index", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        ids[0] = al_file_id_from(&st);
        known = taking->seen_is_sure && al_stat_cache_is_current(&taking->seen.head.index, &st);
    }
    r = al_gather_names(taking->store->repo, taking->top_fd, settings->include_ignored, !known,
                        taking->watch, &taking->gathered, taking->err);
    if (r == 0)
        r = al_create_index(taking, ret_index);
    if (r < 0)
        return r;
    if (fstatat(taking->git_fd, "index", &st, AT_SYMLINK_NOFOLLOW) == 0)
        ids[1] = al_file_id_from(&st);
    if (!known)
        taking->head.entries = taking->gathered.entries;
    return al_file_id_equal(&ids[0], &ids[1])
               ? 0
               : al_error_set(taking->err, AL_ERR_AGAIN, "the index changed while it was read");
}

static int take_worktree(struct al_checkpoint_writer *taking, struct al_oid *ret_tree)
{
    const struct al_checkpoint_settings *settings = taking->store->settings;
    int r;

    al_prefetch_wait(taking->ahead);
    r = al_tree_files_read(
        &(struct al_tree_source){
            .top_fd = taking->top_fd,
            .top = taking->store->repo->at.top,
            .names = &taking->gathered.names,
            .max_file_bytes = settings->max_file_bytes,
            .max_store_bytes = settings->max_store_bytes,
            .objects = &taking->objects,
            .seen = &taking->seen,
            .ahead = taking->ahead,
            .seen_is_sure = taking->seen_is_sure,
            .changed = &taking->changed,
            .watch = taking->watch,
        },
        &taking->worktree, taking->err);

    return r < 0 ? r
                 : al_tree_put(&taking->objects, taking->worktree.files, taking->worktree.count,
                               ret_tree, taking->err);
}

static int take_refs(struct al_checkpoint_writer *taking, struct al_oid *ret_tree)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const struct al_repo *repo = taking->store->repo;
    bool linked = strcmp(repo->at.git_dir, repo->at.common_dir) != 0;
    int r;

    if (repo->vetting->has_reftable)
        return al_error_set(taking->err, AL_ERR_EXECUTION,
                            "the repository keeps its references in a form airlock does not read");
    r = al_refs_read(taking->common_fd, linked ? taking->git_fd : -1, taking->store->sha256,
                     taking->watch, &taking->refs, taking->err);
    if (r == 0)
        r = al_gitdir_read(taking->git_fd, taking->common_fd, taking->watch, &taking->files,
                           taking->err);
    if (r == 0 && !taking->reason->only_looks)
        r = al_pin_lost(taking->store, &taking->refs, &taking->files, taking->reason->dropping,
                        &taking->head, taking->watch, taking->err);
    if (r < 0)
        return r;
    al_refs_dump(&taking->refs, &text);
    return al_objects_put_pieces(&taking->objects, text.buf, text.len, ret_tree, taking->err);
}

static int read_all(struct al_checkpoint_writer *taking, struct al_parts *parts)
{
    int r = gather(taking, &parts->index);

    if (r == 0)
        r = take_worktree(taking, &parts->worktree);
    if (r == 0)
        r = al_create_staged(taking, &parts->staged);
    if (r == 0)
        r = take_refs(taking, &parts->refs);
    if (r == 0)
        r = al_create_state(taking, &parts->state);
    if (r == 0)
        r = al_create_about(taking, parts);
    if (r < 0 || !taking->reason->overwriting || !taking->reason->ret_missing)
        return r;
    al_strv_clear(taking->reason->ret_missing);
    return al_create_find_missing(taking, taking->reason->ret_missing);
}

static int put_root(struct al_checkpoint_writer *taking, const struct al_parts *parts,
                    struct al_oid *ret_tree)
{
    const struct {
        const char *name;
        unsigned mode;
        const struct al_oid *oid;
    } entries[] = {
        { "about", 0100644, &parts->about },      { "index", 040000, &parts->index },
        { "left-out", 040000, &parts->left_out }, { "modes", 040000, &parts->modes },
        { "refs", 040000, &parts->refs },         { "staged", 040000, &parts->staged },
        { "state", 040000, &parts->state },       { "worktree", 040000, &parts->worktree },
    };
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;

    for (size_t i = 0; i < AL_COUNT(entries); i++)
        if (!al_oid_is_none(entries[i].oid))
            al_tree_add(&tree, entries[i].mode, entries[i].name, entries[i].oid,
                        taking->store->sha256);
    return al_objects_put(&taking->objects, AL_OBJECT_TREE, tree.buf, tree.len, ret_tree,
                          taking->err);
}

static int put_commit(struct al_checkpoint_writer *taking, const struct al_oid *tree,
                      struct al_oid *ret_commit)
{
    static const char who[] = "airlock <airlock@localhost>";
    const struct al_checkpoint_reason *reason = taking->reason;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    long long now = (long long)time(NULL);
    char tree_text[AL_OID_TEXT];
    uint64_t word;

    if (getrandom(&word, sizeof(word), 0) != (ssize_t)sizeof(word))
        return al_error_errno(taking->err, errno, "cannot get random bytes");
    al_oid_text(tree, taking->store->sha256, tree_text);
    al_str_addf(&text, "tree %s\n", tree_text);
    if (reason->before)
        al_str_addf(&text, "parent %s\n", reason->before);
    al_str_addf(&text, "author %s %lld +0000\ncommitter %s %lld +0000\n\n", who, now, who, now);
    al_str_addf(&text, "%s %s %s\n\n%" PRId64 " %016" PRIx64 "\n",
                reason->before ? "after" : "before", reason->tool, reason->operation,
                al_stat_cache_now_ns(), word);
    return al_objects_put(&taking->objects, AL_OBJECT_COMMIT, text.buf, text.len, ret_commit,
                          taking->err);
}

/* The note is a convenience: where it cannot be written, the next checkpoint reads more. */
static void save_seen(struct al_checkpoint_writer *taking, const char *reference)
{
    struct al_oid oid;

    for (size_t at = 0; at < taking->objects.used.len; at += sizeof(oid)) {
        memcpy(&oid, taking->objects.used.buf + at, sizeof(oid));
        al_stat_cache_write_known(&taking->next, &oid);
    }
    for (size_t i = 0; i < taking->worktree.count; i++)
        al_stat_cache_write_file(&taking->next, taking->worktree.files[i].path,
                                 &taking->worktree.seen[i]);
    memset(taking->head.reference, 0, sizeof(taking->head.reference));
    memcpy(taking->head.reference, reference, strlen(reference) + 1);
    (void)al_stat_cache_save(&taking->next, &taking->head, taking->store->dir_fd,
                             taking->store->sha256);
}

/* The first checkpoint of a large working tree may take longer than one call: the next one goes on
 * where this one was when its time was over.  No reference names what is there, so nothing of it
 * counts unless it is found. */
static void keep_progress(struct al_checkpoint_writer *taking)
{
    if (taking->seen_is_sure || taking->worktree.count <= taking->seen.nfiles ||
        al_objects_finish(&taking->objects, NULL) < 0)
        return;
    taking->head = (struct al_stat_cache_head){ .reference = "" };
    save_seen(taking, "");
}

static int publish(struct al_checkpoint_writer *taking, const struct al_parts *parts,
                   char ret_id[AL_OID_TEXT])
{
    const char *before = taking->reason->before;
    al_auto(al_freep) char *reference = NULL;
    struct al_oid root, commit;
    int r = put_root(taking, parts, &root);

    if (r == 0)
        r = put_commit(taking, &root, &commit);
    if (r == 0)
        r = al_objects_finish(&taking->objects, taking->err);
    if (r < 0)
        return r;
    al_oid_text(&commit, taking->store->sha256, ret_id);
    if (taking->reason->unnamed)
        return 0;
    reference =
        before ? al_asprintf(AL_REF_AFTER "%s", before) : al_asprintf(AL_REF_BEFORE "%s", ret_id);
    r = al_store_write_ref(taking->store, reference, &commit, taking->err);
    if (r < 0)
        return r;
    taking->changed |= !al_oid_equal(&taking->head.root, &root) ||
                       !al_oid_equal(&taking->head.tips, &taking->seen.head.tips);
    taking->head.root = root;
    if (taking->changed)
        save_seen(taking, reference);
    return 0;
}

static int take_once(struct al_store *store, const struct al_checkpoint_reason *reason,
                     struct al_deadline *watch, char ret_id[AL_OID_TEXT], struct al_error *err)
{
    al_auto(taking_clear) struct al_checkpoint_writer taking = {
        .store = store,
        .reason = reason,
        .watch = watch,
        .top_fd = -1,
        .git_fd = -1,
        .common_fd = -1,
        .seen = AL_STAT_CACHE_INIT,
        .next = AL_STAT_CACHE_WRITER_INIT,
        .gathered = AL_GATHERED_INIT,
        .err = err,
    };
    struct al_parts parts = { .about = { .bytes = { 0 } } };
    int r;

    al_objects_init(&taking.objects, store->pack_fd, store->sha256);
    r = open_parts(&taking);
    if (r == 0) {
        load_seen(&taking);
        taking.ahead = al_prefetch_begin(&taking.seen, taking.top_fd);
        r = read_all(&taking, &parts);
    }
    if (r == AL_ERR_TIMEOUT)
        keep_progress(&taking);
    return r < 0 ? r : publish(&taking, &parts, ret_id);
}

static int cannot(struct al_error *err)
{
    al_auto(al_freep) char *why = err ? al_take(&err->message) : NULL;

    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_SNAPSHOT_DISABLED,
                             "No checkpoint can be taken: %s", why ? why : "");
}

int al_checkpoint_create(struct al_store *store, const struct al_checkpoint_reason *reason,
                         struct al_run_limits *budget, char ret_id[AL_OID_TEXT],
                         struct al_error *err)
{
    struct al_deadline watch = al_deadline_begin(budget);
    int r = AL_ERR_AGAIN;

    for (int attempt = 0; attempt < ATTEMPTS_MAX && r == AL_ERR_AGAIN; attempt++) {
        if (err)
            al_error_clear(err);
        r = take_once(store, reason, &watch, ret_id, err);
    }
    al_deadline_sync(&watch);
    if (r == 0 || r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED)
        return r;
    return cannot(err);
}
