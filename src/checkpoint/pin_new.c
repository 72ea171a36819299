// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/pin_new.h"

#include <string.h>

#include "gitops/plumbing/tree_diff.h"
#include "odb/pack_write.h"

#define MODE_TREE    0040000u
#define MODE_GITLINK 0160000u

/** A pack that is being made. */
struct making {
    struct al_object_reader reader;
    const struct al_tip_list *references;
    struct al_strv commits; /* that are packed, with what they lead to */
    struct al_pack *pack;
    struct al_oid_set packed;
    struct al_error *err;
    int status;
};

static void making_clear(struct making *making)
{
    al_object_reader_clear(&making->reader);
    al_strv_clear(&making->commits);
    al_pack_free(making->pack);
    al_oid_set_clear(&making->packed);
}

/* Write an object.  False: it cannot be read here, or `status` is negative. */
static bool put(struct making *making, const struct al_oid *oid, enum al_object_type type)
{
    al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };
    struct al_oid written;

    if (al_oid_set_has(&making->packed, oid))
        return true;
    if (!al_object_reader_get(&making->reader, oid, type, &object))
        return false;
    making->status = al_pack_begin(making->pack, type, object.len, making->err);
    if (making->status == 0)
        making->status = al_pack_add(making->pack, object.data, object.len, making->err);
    if (making->status == 0)
        making->status = al_pack_end(making->pack, &written, making->err);
    (void)al_oid_set_add(&making->packed, oid);
    return making->status == 0;
}

static bool put_change(void *payload, const struct al_tree_change *change)
{
    if (!change->new_mode || change->new_mode == MODE_GITLINK)
        return true;
    return put(payload, &change->new_oid,
               change->new_mode == MODE_TREE ? AL_OBJECT_TREE : AL_OBJECT_BLOB);
}

/* Pack a commit, and what its tree has beyond that of its first parent, which is packed, too, or
 * which a reference reaches. */
static bool put_commit(struct making *making, const char *commit)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    struct al_oid oid, tree, base;

    if (!al_oid_parse(commit, making->reader.sha256, &oid) ||
        !put(making, &oid, AL_OBJECT_COMMIT) ||
        !al_object_reader_commit(&making->reader, commit, &tree, &parents) ||
        (parents.count &&
         !al_object_reader_commit(&making->reader, parents.items[0], &base, NULL)) ||
        !al_tree_diff_with_trees(&making->reader, parents.count ? &base : NULL, &tree, put_change,
                                 making))
        return false;
    for (size_t i = 0; i < parents.count; i++)
        if (!al_tip_list_has(making->references, parents.items[i], making->reader.sha256) &&
            !al_strv_contains(&making->commits, parents.items[i]))
            al_strv_add(&making->commits, parents.items[i]);
    return true;
}

static bool put_all(struct making *making, const struct al_tip_list *wanted)
{
    for (size_t i = 0; i < wanted->list.count; i++)
        al_strv_add(&making->commits, wanted->list.items[i]);
    for (size_t i = 0; i < making->commits.count; i++)
        if (i == AL_PIN_COMMITS_MAX || !put_commit(making, making->commits.items[i]))
            return false;
    return true;
}

int al_pin_pack_new(struct al_store *store, const struct al_tip_list *wanted,
                    const struct al_tip_list *references, struct al_pack_image *ret_image,
                    struct al_error *err)
{
    al_auto(making_clear) struct making making = { .reader = AL_OBJECT_READER_INIT,
                                                   .references = references,
                                                   .commits = AL_STRV_INIT,
                                                   .err = err };

    if (store->bare.quarantine || wanted->list.count > AL_PIN_COMMITS_MAX ||
        !al_object_reader_open(&making.reader, &store->repo->at, store->sha256))
        return 0;
    making.pack = al_pack_new(store->pack_fd, store->sha256, true);
    if (!put_all(&making, wanted))
        return making.status;
    (void)al_pack_take_image(making.pack, ret_image); /* not if it is too large */
    return 0;
}
