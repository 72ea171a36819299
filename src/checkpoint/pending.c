// SPDX-License-Identifier: Apache-2.0
/* Checkpoints that the store gets only when they are accepted. */
#include <stdlib.h>

#include "checkpoint/create.h"
#include "checkpoint/quarantine.h"
#include "gitops/deadline.h"

struct al_pending_checkpoint {
    struct al_checkpoint_reason reason;
    struct al_checkpoint_writer writer;
    struct al_quarantine quarantine;
    struct al_linked linked;
};

int al_checkpoint_create_pending(struct al_store *store, const struct al_checkpoint_reason *reason,
                                 struct al_run_limits *budget,
                                 struct al_pending_checkpoint **ret_pending,
                                 char ret_id[AL_OID_TEXT], struct al_error *err)
{
    struct al_pending_checkpoint *pending = al_calloc(1, sizeof(*pending));
    struct al_deadline deadline;
    int r;

    pending->reason = *reason;
    pending->writer = AL_CHECKPOINT_WRITER_INIT;
    pending->quarantine = AL_QUARANTINE_INIT;
    r = al_linked_read(store, reason, budget, &pending->linked, err);
    deadline = al_deadline_begin(budget);
    if (r == 0)
        r = al_quarantine_begin(&pending->quarantine, store, err);
    if (r == 0)
        r = al_checkpoint_write(&pending->writer, store, &pending->reason, &pending->linked,
                                pending->quarantine.pack_fd, &deadline, err);
    al_deadline_sync(&deadline);
    if (r < 0) {
        al_pending_checkpoint_free(pending);
        return al_checkpoint_result(r, err);
    }
    al_oid_text(&pending->writer.commit, store->sha256, ret_id);
    if (reason->ret_without)
        *reason->ret_without = pending->writer.without;
    *ret_pending = pending;
    return 0;
}

int al_checkpoint_accept(struct al_pending_checkpoint *pending, const struct al_strv *dropping,
                         struct al_run_limits *budget, struct al_error *err)
{
    struct al_deadline deadline = al_deadline_begin(budget);
    int r = al_quarantine_migrate(&pending->quarantine, err);

    pending->writer.deadline = &deadline;
    pending->writer.err = err;
    if (r == 0)
        r = al_checkpoint_publish(&pending->writer, dropping);
    al_deadline_sync(&deadline);
    return al_checkpoint_result(r, err);
}

void al_pending_checkpoint_free(struct al_pending_checkpoint *pending)
{
    if (!pending)
        return;
    al_checkpoint_writer_clear(&pending->writer); /* before the directory that it writes to */
    al_quarantine_end(&pending->quarantine);
    al_linked_clear(&pending->linked);
    free(pending);
}

/* One side of the differences: the files that it has. */
static int put_side(struct al_objects *objects, const struct al_differences *changes, bool after,
                    char ret_tree[AL_OID_TEXT], struct al_error *err)
{
    al_auto(al_freep) struct al_tree_file *files = al_calloc(changes->count + 1, sizeof(*files));
    al_auto(al_str_clear) struct al_str root = AL_STR_INIT;
    struct al_oid tree;
    size_t count = 0;
    int r;

    for (size_t i = 0; i < changes->count; i++) {
        const struct al_difference *change = &changes->items[i];
        const char *oid = after ? change->to : change->from;

        if (change->part != AL_PART_WORKTREE || !oid ||
            !al_oid_parse(oid, objects->sha256, &files[count].oid))
            continue;
        files[count].path = change->name;
        files[count++].mode = after ? change->to_mode : change->from_mode;
    }
    r = al_tree_put(objects, files, count, &tree, err);
    if (r < 0)
        return r;
    al_tree_add(&root, 040000, "worktree", &tree, objects->sha256);
    r = al_objects_put(objects, AL_OBJECT_TREE, root.buf, root.len, &tree, err);
    al_oid_text(&tree, objects->sha256, ret_tree);
    return r;
}

int al_pending_checkpoint_trees(struct al_pending_checkpoint *pending,
                                const struct al_differences *changes, char ret_from[AL_OID_TEXT],
                                char ret_to[AL_OID_TEXT], struct al_error *err)
{
    struct al_store *store = pending->writer.store;
    al_auto(al_objects_clear) struct al_objects objects;
    int r;

    al_objects_init(&objects, store->pack_fd, pending->quarantine.pack_fd, store->sha256);
    al_objects_ask(&objects, al_store_has_object, store);
    r = put_side(&objects, changes, false, ret_from, err);
    if (r == 0)
        r = put_side(&objects, changes, true, ret_to, err);
    return r < 0 ? r : al_objects_finish(&objects, err);
}
