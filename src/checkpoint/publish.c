// SPDX-License-Identifier: Apache-2.0
/* Making a checkpoint that was written part of the store. */
#include "checkpoint/create.h"
#include "checkpoint/pin.h"
#include "checkpoint/recent.h"

static bool has(const struct al_checkpoint_writer *writer, enum al_checkpoint_parts part)
{
    return !(writer->without & part);
}

void al_checkpoint_save_cache(struct al_checkpoint_writer *writer, const char *reference)
{
    struct al_oid oid;

    for (size_t at = 0; at < writer->objects.used.len; at += sizeof(oid)) {
        memcpy(&oid, writer->objects.used.buf + at, sizeof(oid));
        al_stat_cache_write_known(&writer->new_cache, &oid);
    }
    for (size_t i = 0; i < writer->worktree.count; i++)
        al_stat_cache_write_file(&writer->new_cache, writer->worktree.files[i].path,
                                 &writer->worktree.stats[i]);
    memset(writer->new_head.reference, 0, sizeof(writer->new_head.reference));
    memcpy(writer->new_head.reference, reference, strlen(reference) + 1);
    (void)al_stat_cache_save(&writer->new_cache, &writer->new_head, writer->store->dir_fd,
                             writer->store->sha256);
}

static void update_cache(struct al_checkpoint_writer *writer, const char *reference)
{
    if (!writer->changed && al_oid_equal(&writer->new_head.root, &writer->root))
        return;
    writer->new_head.root = writer->root;
    al_checkpoint_save_cache(writer, reference);
}

static void save_index_cache(struct al_checkpoint_writer *writer, const char *reference)
{
    struct al_index_cache *cache = &writer->index_cache;

    memset(cache->reference, 0, sizeof(cache->reference));
    memcpy(cache->reference, reference, strlen(reference) + 1);
    (void)al_index_cache_save(cache, writer->store->dir_fd, writer->store->sha256);
}

/* Write the checkpoint as files that are synchronised one by one: more objects than memory has for
 * them, or a machine on which nothing tells one boot from another. */
static int write_files(struct al_checkpoint_writer *writer, const char *reference)
{
    int r = al_objects_finish(&writer->objects, writer->err);

    writer->store->has_loose_pack = true;
    if (r == 0 && al_recent_is_open(writer->store))
        return 0;
    return r < 0 ? r
                 : al_store_write_ref(writer->store, reference, &writer->commit, true, writer->err);
}

/* Make the checkpoint part of the store.  The checkpoint before is on the disk then.  The one after
 * is not, and goes there with the next one before. */
static int write_checkpoint(struct al_checkpoint_writer *writer, const char *reference)
{
    al_auto(al_pack_image_clear) struct al_pack_image image = AL_PACK_IMAGE_INIT;
    struct al_store *store = writer->store;
    bool in_memory = al_recent_is_open(store) && al_objects_take_image(&writer->objects, &image);
    int r = in_memory ? 0 : write_files(writer, reference);

    if (r < 0 || !al_recent_is_open(store))
        return r;
    if (!in_memory)
        al_store_look_again(store);
    r = al_recent_add(store, reference, &writer->commit, &image, !writer->reason->before,
                      writer->err);
    if (r == 0 && (!store->settings->publishes_later || store->has_loose_pack) &&
        al_recent_publish(store, NULL) == 0) /* else who needs it tries again */
        store->has_loose_pack = false;
    return r;
}

int al_checkpoint_publish(struct al_checkpoint_writer *writer, const struct al_strv *dropping)
{
    const char *before = writer->reason->before;
    al_auto(al_freep) char *reference = NULL;
    char id[AL_OID_TEXT];
    int r = 0;

    if (has(writer, AL_PARTS_REFS))
        r = al_pin_lost(writer->store, &writer->refs, &writer->gitdir, dropping, writer->deadline,
                        writer->err);
    if (r < 0)
        return r;
    al_oid_text(&writer->commit, writer->store->sha256, id);
    reference =
        before ? al_asprintf(AL_REF_AFTER "%s", before) : al_asprintf(AL_REF_BEFORE "%s", id);
    r = write_checkpoint(writer, reference);
    if (r < 0)
        return r;
    if (has(writer, AL_PARTS_WORKTREE))
        update_cache(writer, reference);
    else if (has(writer, AL_PARTS_INDEX) && writer->changed)
        save_index_cache(writer, reference);
    return 0;
}
