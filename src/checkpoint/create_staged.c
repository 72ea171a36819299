// SPDX-License-Identifier: Apache-2.0
/* The objects of the index that a checkpoint has beside the files of the working tree. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "checkpoint/create.h"
#include "checkpoint/loose_object.h"
#include "gitops/deadline.h"
#include "gitops/plumbing/bare.h"
#include "gitops/plumbing/staged_objects.h"
#include "util/fs.h"

/* So many missing objects are looked for without git first. */
#define LOOSE_MAX 64u

/* Collect the objects of the index that no file of the working tree has.  Names and files are in
 * the same order, and a file's path pointer is that of its name. */
static void collect_staged(const struct al_checkpoint_writer *writer, struct al_oids *ids)
{
    const struct al_collected_files *collected = &writer->collected;
    const struct al_worktree_files *worktree = &writer->worktree;
    size_t k = 0;

    for (size_t i = 0; i < collected->names.count; i++) {
        const struct al_file_name *name = &collected->names.items[i];
        const char *path = al_file_list_path(&collected->names, name);
        const struct al_tree_file *file =
            k < worktree->count && worktree->files[k].path == path ? &worktree->files[k++] : NULL;

        if (name->in_index && (!file || !al_oid_equal(&file->oid, &name->oid)))
            al_oids_add(ids, &name->oid);
    }
    for (size_t i = 0; i < collected->nunmerged; i++)
        al_oids_add(ids, &collected->unmerged[i]);
}

/** Objects that git copies. */
struct copy {
    struct al_checkpoint_writer *writer;
    struct al_str lines;  /* their ids, one a line */
    struct al_strv large; /* beyond max_file_bytes */
    uint64_t bytes;       /* that they take */
};

static void copy_clear(struct copy *copy)
{
    al_str_clear(&copy->lines);
    al_strv_clear(&copy->large);
}

static void add_blob(void *payload, const struct al_blob_size *blob)
{
    struct copy *copy = payload;
    const struct al_checkpoint_writer *writer = copy->writer;

    if ((writer->without & AL_PARTS_WORKTREE) &&
        blob->bytes > writer->store->settings->max_file_bytes) {
        al_strv_add(&copy->large, blob->oid);
        return;
    }
    copy->bytes += blob->packed_bytes;
    al_str_addf(&copy->lines, "%s\n", blob->oid);
}

/* A large file that HEAD's commit has stays in the repository, as a working tree's large file is
 * left out.  One that is only staged is copied. */
static int add_large(struct copy *copy)
{
    al_auto(al_strv_clear) struct al_strv staged = AL_STRV_INIT;
    const struct al_checkpoint_writer *writer = copy->writer;
    int r;

    if (!copy->large.count)
        return 0;
    r = al_git_staged_objects(writer->store->repo, writer->deadline->budget, &staged, writer->err);
    al_strv_sort(&staged);
    for (size_t i = 0; r == 0 && i < copy->large.count; i++)
        if (staged.count && al_strv_contains_sorted(&staged, copy->large.items[i]))
            al_str_addf(&copy->lines, "%s\n", copy->large.items[i]);
    return r;
}

/* A checkpoint may write max_store_bytes. */
static int check_room(const struct al_checkpoint_writer *writer, uint64_t more)
{
    uint64_t most = writer->store->settings->max_store_bytes;

    if (al_pack_bytes(writer->objects.pack) + more <= most)
        return 0;
    return al_error_set(writer->err, AL_ERR_EXECUTION,
                        "a checkpoint of this repository is larger than journal.max_store_bytes "
                        "(%" PRIu64 ")",
                        most);
}

/* Copy objects with two git children, whatever pack they are in. */
static int copy_with_git(struct al_checkpoint_writer *writer, const struct al_strv *missing)
{
    al_auto(copy_clear) struct copy copy = { .writer = writer, .lines = AL_STR_INIT };
    al_auto(al_freep) char *hash = NULL;
    const struct al_bare *bare = &writer->store->bare;
    int r;

    al_deadline_sync(writer->deadline);
    r = al_bare_blob_sizes(bare, missing, add_blob, &copy, writer->deadline->budget, writer->err);
    if (r == 0)
        r = check_room(writer, copy.bytes);
    if (r == 0)
        r = add_large(&copy);
    if (r == 0 && copy.lines.len)
        r = al_bare_pack(bare, &copy.lines, false, writer->deadline->budget, &hash, writer->err);
    writer->store->has_loose_pack |= copy.lines.len > 0;
    al_objects_look_again(&writer->objects);
    al_store_look_again(writer->store);
    /* git synchronises the pack and not its name, and a reference will lead to it. */
    if (r == 0 && copy.lines.len && al_fs_sync(writer->objects.dir_fd) < 0)
        r = al_error_errno(writer->err, errno, "cannot write to the checkpoint store");
    return r;
}

/* Copy the objects that git has not packed yet, which are often all. */
static int copy_loose(struct al_checkpoint_writer *writer, const struct al_oids *wanted,
                      struct al_strv *ret_missing)
{
    uint64_t max_bytes = writer->store->settings->max_file_bytes;
    int r = 0;

    for (size_t i = 0; r >= 0 && i < wanted->count; i++) {
        char text[AL_OID_TEXT];

        r = wanted->count <= LOOSE_MAX
                ? al_loose_object_copy(writer->common_fd, &wanted->items[i], max_bytes,
                                       &writer->objects, writer->err)
                : 0;
        if (r != 0)
            continue;
        al_oid_text(&wanted->items[i], writer->store->sha256, text);
        al_strv_add(ret_missing, text);
    }
    return r < 0 ? r : check_room(writer, 0);
}

/* Copy the objects that the store lacks from the repository.  An object that neither has was lost
 * before. */
static int copy_missing(struct al_checkpoint_writer *writer, const struct al_oids *ids)
{
    al_auto(al_oids_clear) struct al_oids wanted = { .items = NULL };
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    int r;

    for (size_t i = 0; i < ids->count; i++)
        if (!al_objects_has(&writer->objects, &ids->items[i]))
            al_oids_add(&wanted, &ids->items[i]);
    r = copy_loose(writer, &wanted, &missing);
    return r < 0 || !missing.count ? r : copy_with_git(writer, &missing);
}

int al_create_objects(struct al_checkpoint_writer *writer, struct al_oids *ids,
                      struct al_oid *ret_tree)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    struct al_tree_file *files;
    size_t count = 0;
    int r;

    al_oids_sort(ids);
    if (!ids->count)
        return 0;
    r = copy_missing(writer, ids);
    if (r < 0)
        return r;
    files = al_calloc(ids->count, sizeof(*files));
    for (size_t i = 0; i < ids->count; i++) {
        char text[AL_OID_TEXT];

        if (!al_objects_has(&writer->objects, &ids->items[i]))
            continue;
        al_oid_text(&ids->items[i], writer->store->sha256, text);
        al_strv_addf(&paths, "%.2s/%s", text, text + 2);
        files[count++] = (struct al_tree_file){ .path = paths.items[paths.count - 1],
                                                .mode = S_IFREG | 0644,
                                                .oid = ids->items[i] };
    }
    r = count ? al_tree_put(&writer->objects, files, count, ret_tree, writer->err) : 0;
    free(files);
    return r;
}

int al_create_staged(struct al_checkpoint_writer *writer, struct al_oid *ret_tree)
{
    al_auto(al_oids_clear) struct al_oids ids = { .items = NULL };

    collect_staged(writer, &ids);
    return al_create_objects(writer, &ids, ret_tree);
}
