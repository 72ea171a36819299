// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/recent_settle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/kept.h"
#include "checkpoint/packed_refs.h"
#include "checkpoint/pin.h"
#include "checkpoint/recent_file.h"
#include "checkpoint/small_packs.h"
#include "checkpoint/stat_cache.h"
#include "gitops/plumbing/bare.h"
#include "util/fs.h"

#define FILE_MAX_BYTES (1u << 30)

static int failed(int errno_value, struct al_error *err)
{
    return al_error_errno(err, errno_value, "cannot write to the checkpoint store");
}

/** The records of the file. */
struct records {
    struct al_str bytes;
    struct al_pack_images images;
    struct al_strv refs;        /* "<name> SP <object id>" */
    struct al_strv unpublished; /* the same of those that are in no other file */
    struct al_pack_images kept; /* packs of lost commits that are in no other file */
    struct al_strv tips;        /* of these */
};

#define RECORDS_INIT                                                                               \
    (struct records)                                                                               \
    {                                                                                              \
        .bytes = AL_STR_INIT, .refs = AL_STRV_INIT, .unpublished = AL_STRV_INIT,                   \
        .tips = AL_STRV_INIT                                                                       \
    }

static void records_clear(struct records *records)
{
    al_pack_images_clear(&records->images);
    al_pack_images_clear(&records->kept);
    al_strv_clear(&records->tips);
    al_str_clear(&records->bytes);
    al_strv_clear(&records->refs);
    al_strv_clear(&records->unpublished);
}

static void add_ref(struct al_strv *refs, const char *name, const struct al_oid *oid, bool sha256)
{
    char text[AL_OID_TEXT];

    al_oid_text(oid, sha256, text);
    al_strv_addf(refs, "%s %s", name, text);
}

static void add_record(struct records *records, const struct al_recent_record *record,
                       bool is_published, bool sha256)
{
    struct al_pack_image image = AL_PACK_IMAGE_INIT;
    al_auto(al_strv_clear) struct al_strv tips = AL_STRV_INIT;
    bool kept = al_recent_kept_tips(record->reference, &tips);

    if (kept && is_published)
        return; /* it was synchronised */
    al_str_add(&image.pack, record->pack, record->pack_len);
    al_str_add(&image.index, record->index, record->index_len);
    al_pack_images_add(kept ? &records->kept : &records->images, &image);
    for (size_t i = 0; i < tips.count; i++)
        al_strv_add(&records->tips, tips.items[i]);
    if (kept)
        return;
    add_ref(&records->refs, record->reference, &record->commit, sha256);
    if (!is_published)
        add_ref(&records->unpublished, record->reference, &record->commit, sha256);
}

/* The item of the list with the name of this one; NULL: none. */
static const char *find_name(const struct al_strv *refs, const char *ref)
{
    size_t len = strcspn(ref, " ") + 1;

    for (size_t i = 0; i < refs->count; i++)
        if (!strncmp(refs->items[i], ref, len))
            return refs->items[i];
    return NULL;
}

/* Sort references that are listed in the order of their records.  One that was written twice has
 * the value of the later record. */
static void keep_last(struct al_strv *refs)
{
    struct al_strv last = AL_STRV_INIT;

    for (size_t i = refs->count; i > 0; i--)
        if (!find_name(&last, refs->items[i - 1]))
            al_strv_add(&last, refs->items[i - 1]);
    al_strv_sort(&last);
    al_strv_clear(refs);
    *refs = last;
}

/* With `published`, read the records that are packs and references already as well. */
static int read_records(struct al_store *store, bool published, struct records *ret_records,
                        struct al_error *err)
{
    uint64_t until;
    struct al_recent_head head;
    struct al_recent_record record;
    int r = al_fs_read_fd(store->recent.fd, FILE_MAX_BYTES, &ret_records->bytes);
    size_t at = AL_RECENT_HEAD_BYTES;

    if (r < 0)
        return al_error_errno(err, -r, "cannot read the checkpoint store");
    if (ret_records->bytes.len < AL_RECENT_HEAD_BYTES ||
        !al_recent_head_parse(ret_records->bytes.buf, store->sha256, &head))
        return 0;
    until = al_recent_published_parse(ret_records->bytes.buf, head.nonce);
    if (!published && until >= at)
        at = (size_t)until;
    while ((at = al_recent_record_at(ret_records->bytes.buf, ret_records->bytes.len, at, head.nonce,
                                     true, &record)))
        add_record(ret_records, &record,
                   (uint64_t)(record.reference - ret_records->bytes.buf) < until, store->sha256);
    keep_last(&ret_records->refs);
    keep_last(&ret_records->unpublished);
    return 0;
}

/* Add the reference of a file; one that is torn to `torn`, as a name with a space. */
static int read_loose(struct al_store *store, const char *name, struct al_strv *refs,
                      struct al_strv *torn, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_oid oid;
    int r = al_fs_read(store->bare.dir_fd, name, 256, &text);

    if (r < 0 && r != -ENOENT && r != -EINVAL)
        return al_error_errno(err, -r, "cannot read the checkpoint store");
    if (r == 0 && al_oid_parse(text.buf, store->sha256, &oid))
        add_ref(refs, name, &oid, store->sha256);
    else if (r == 0)
        al_strv_addf(torn, "%s ", name);
    return 0;
}

/* List the references that are files of their own. */
static int list_loose(struct al_store *store, struct al_strv *ret_refs, struct al_strv *ret_torn,
                      struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < AL_COUNT(al_store_ref_dirs); i++) {
        al_auto(al_closedirp) DIR *dir = al_fs_list(
            openat(store->bare.dir_fd, al_store_ref_dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        struct dirent *entry;

        if (!dir && errno != ENOENT)
            return failed(errno, err);
        while (r == 0 && dir && (entry = readdir(dir))) {
            al_auto(al_freep) char *name = al_fs_join(al_store_ref_dirs[i], entry->d_name);

            if (entry->d_name[0] != '.')
                r = read_loose(store, name, ret_refs, ret_torn, err);
        }
    }
    al_strv_sort(ret_refs);
    return r;
}

static void unlink_loose(struct al_store *store, const char *ref)
{
    al_auto(al_freep) char *name = al_strndup(ref, (size_t)(strchr(ref, ' ') - ref));

    (void)unlinkat(store->bare.dir_fd, name, 0);
}

/* Keep what lost commits lead to in one pack.  It is on the disk before a checkpoint that needs it
 * is in other files. */
static int write_kept(struct al_store *store, const struct records *records, struct al_error *err)
{
    struct al_pack_image joined;
    int r;

    if (!records->kept.count)
        return 0;
    al_pack_image_join(records->kept.items, records->kept.count, store->sha256, &joined);
    r = al_kept_write(store, &joined, &records->tips, err);
    al_pack_image_clear(&joined);
    return r;
}

/* Write the packs and the references in this order. */
static int settle(struct al_store *store, const struct records *records, const struct al_strv *refs,
                  bool alone, struct al_error *err)
{
    struct al_pack_image joined;
    int r = write_kept(store, records, err);

    al_pack_image_join(records->images.items, records->images.count, store->sha256, &joined);
    if (r == 0)
        r = al_pack_image_write(&joined, store->pack_fd, store->sha256, true, err);
    if (r == 0)
        r = al_packed_refs_add(store, refs, err);
    for (size_t i = 0; r == 0 && alone && i < refs->count; i++)
        unlink_loose(store, refs->items[i]);
    if (r == 0 && alone)
        al_small_packs_unlink(store, &joined);
    al_pack_image_clear(&joined);
    return r;
}

/* Add the references of records to those of files, which are older.  `ret_replaced` has the records
 * of names that a file has with another value. */
static void add_newer(struct al_strv *refs, const struct al_strv *newer,
                      struct al_strv *ret_replaced)
{
    struct al_strv all = AL_STRV_INIT;

    for (size_t i = 0; i < newer->count; i++)
        al_strv_add(&all, newer->items[i]);
    for (size_t i = 0; i < refs->count; i++) {
        const char *found = find_name(newer, refs->items[i]);

        if (!found)
            al_strv_add(&all, refs->items[i]);
        else if (strcmp(found, refs->items[i]) != 0)
            al_strv_add(ret_replaced, found);
    }
    al_strv_sort(&all);
    al_strv_clear(refs);
    *refs = all;
}

/* Write "<name> SP <object id>" as a file. */
static int write_loose(struct al_store *store, const char *ref, struct al_error *err)
{
    const char *space = strchr(ref, ' ');
    al_auto(al_freep) char *name = al_strndup(ref, (size_t)(space - ref));
    struct al_oid oid;

    return al_oid_parse(space + 1, store->sha256, &oid)
               ? al_store_write_ref(store, name, &oid, false, err)
               : 0;
}

/* Every reference that is a file leads to what is there, since this boot wrote it, or it was
 * synchronised. */
int al_recent_settle_files(struct al_store *store, bool alone, struct al_error *err)
{
    al_auto(records_clear) struct records records = RECORDS_INIT;
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv torn = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv replaced = AL_STRV_INIT;
    int r = read_records(store, true, &records, err);

    if (r == 0)
        r = list_loose(store, &refs, &torn, err);
    if (r < 0)
        return r;
    if (alone)
        al_small_packs_read(store, &records.images);
    add_newer(&refs, &records.unpublished, &replaced);
    r = settle(store, &records, &refs, alone, err);
    for (size_t i = 0; r == 0 && !alone && i < replaced.count; i++)
        r = write_loose(store, replaced.items[i], err);
    return r;
}

int al_recent_publish_files(struct al_store *store, struct al_error *err)
{
    al_auto(records_clear) struct records records = RECORDS_INIT;
    struct al_pack_image joined;
    int r = read_records(store, false, &records, err);

    if (r == 0)
        r = write_kept(store, &records, err);
    if (r < 0)
        return r;
    al_pack_image_join(records.images.items, records.images.count, store->sha256, &joined);
    r = al_pack_image_write(&joined, store->pack_fd, store->sha256, false, err);
    al_pack_image_clear(&joined);
    for (size_t i = 0; r == 0 && i < records.unpublished.count; i++)
        r = write_loose(store, records.unpublished.items[i], err);
    return r;
}

/* --- After another boot --- */

/* The largest pack that was not synchronised when it was written, and its index. */
#define UNSYNCED_MAX_BYTES (512u << 10)

/* Remove a pack, or what there is of it, unless its two files are whole. */
static int check_pack(struct al_store *store, const char *file, struct al_error *err)
{
    al_auto(al_pack_image_clear) struct al_pack_image image = AL_PACK_IMAGE_INIT;
    al_auto(al_freep) char *stem = al_strndup(file, (size_t)(strrchr(file, '.') - file));
    al_auto(al_freep) char *pack = al_asprintf("%s.pack", stem);
    al_auto(al_freep) char *index = al_asprintf("%s.idx", stem);
    int r = al_fs_read(store->pack_fd, pack, UNSYNCED_MAX_BYTES, &image.pack);

    if (r == -EFBIG)
        return 0;
    if (r == 0)
        r = al_fs_read(store->pack_fd, index, UNSYNCED_MAX_BYTES, &image.index);
    if (r < 0 && r != -ENOENT)
        return al_error_errno(err, -r, "cannot read the checkpoint store");
    if (r < 0 || !al_pack_image_is_whole(&image, store->sha256))
        al_small_packs_unlink_one(store, stem);
    return 0;
}

static int check_packs(struct al_store *store, struct al_error *err)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(store->pack_fd);
    struct dirent *entry;
    int r = 0;

    if (!dir)
        return failed(errno, err);
    while (r == 0 && (entry = readdir(dir)))
        if (al_starts_with(entry->d_name, "pack-") &&
            (al_ends_with(entry->d_name, ".idx") || al_ends_with(entry->d_name, ".pack")))
            r = check_pack(store, entry->d_name, err);
    if (r == 0 && al_fs_sync(store->pack_fd) < 0)
        r = failed(EIO, err);
    return r;
}

/* Whether everything that some references lead to is in the store. */
static int are_whole(struct al_store *store, const struct al_strv *refs, size_t first, size_t count,
                     struct al_deadline *deadline, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;

    for (size_t i = first; i < first + count; i++)
        al_strv_add(&oids, strchr(refs->items[i], ' ') + 1);
    al_deadline_sync(deadline);
    return al_bare_is_whole(&store->bare, &oids, deadline->budget, err);
}

/* Remove the references that are in no record and lead to something that is lost.  They are of
 * checkpoints after an operation, which are not synchronised. */
static int drop_lost(struct al_store *store, const struct al_strv *refs,
                     struct al_deadline *deadline, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = refs->count ? are_whole(store, refs, 0, refs->count, deadline, &why) : 0;

    for (size_t i = 0; r == AL_ERR_EXECUTION && i < refs->count; i++) {
        al_error_clear(&why);
        r = are_whole(store, refs, i, 1, deadline, &why);
        if (r == AL_ERR_EXECUTION)
            unlink_loose(store, refs->items[i]);
        r = r == 0 || r == AL_ERR_EXECUTION ? AL_ERR_EXECUTION : r;
    }
    return r < 0 && r != AL_ERR_EXECUTION ? al_error_set(err, (enum al_status)r, "%s", why.message)
                                          : 0;
}

/* The caches name objects that may be lost, and may be torn themselves. */
static void drop_caches(struct al_store *store)
{
    (void)unlinkat(store->dir_fd, "index", 0);
    if (!al_stat_cache_is_whole(store->dir_fd, store->sha256))
        (void)unlinkat(store->dir_fd, "stat", 0);
}

int al_recent_recover_files(struct al_store *store, struct al_deadline *deadline,
                            struct al_error *err)
{
    al_auto(records_clear) struct records records = RECORDS_INIT;
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv torn = AL_STRV_INIT;
    int r;

    drop_caches(store);
    r = al_pin_distrust(store, err);
    if (r == 0)
        r = read_records(store, true, &records, err);
    if (r == 0)
        r = settle(store, &records, &records.refs, true, err);
    if (r == 0)
        r = check_packs(store, err);
    if (r == 0)
        r = list_loose(store, &refs, &torn, err);
    for (size_t i = 0; r == 0 && i < torn.count; i++)
        unlink_loose(store, torn.items[i]);
    if (r == 0)
        r = drop_lost(store, &refs, deadline, err);
    return r < 0 ? r : al_store_sync_refs(store, err);
}
