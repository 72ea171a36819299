// SPDX-License-Identifier: Apache-2.0
/* The parts of a checkpoint except the working tree and the references. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "checkpoint/create.h"
#include "gitops/deadline.h"
#include "gitops/plumbing/bare.h"
#include "util/fs.h"

#define INDEX_MAX_BYTES (512u << 20)
#define PERMISSIONS     0777u

static int unreadable(struct al_checkpoint_writer *writer, const char *what, int errno_value)
{
    return al_error_errno(writer->err, errno_value, "cannot read the %s", what);
}

static int changed_meanwhile(struct al_checkpoint_writer *writer)
{
    return al_error_set(writer->err, AL_ERR_AGAIN, "the index changed while it was read");
}

int al_create_index(struct al_checkpoint_writer *writer, struct al_oid *ret_tree)
{
    al_auto(al_closep) int fd =
        openat(writer->git_fd, "index", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    struct al_stat_cache_file *file = &writer->new_head.index;
    int64_t began_ns = al_stat_cache_now_ns();
    struct stat before, after;
    int r;

    if (fd < 0 && errno == ENOENT) {
        *file = (struct al_stat_cache_file){ .racy = false };
        return 0;
    }
    if (fd < 0 || fstat(fd, &before) < 0)
        return unreadable(writer, "index", errno);
    if (writer->cache_is_valid && al_stat_cache_is_current(&writer->cache.head.index, &before)) {
        *ret_tree = file->oid;
        return 0;
    }
    writer->changed = true;
    r = al_fs_read_fd(fd, INDEX_MAX_BYTES, &bytes);
    if (r < 0)
        return unreadable(writer, "index", -r);
    if (fstat(fd, &after) < 0 || after.st_size != (off_t)bytes.len ||
        after.st_ctim.tv_nsec != before.st_ctim.tv_nsec ||
        after.st_ctim.tv_sec != before.st_ctim.tv_sec)
        return changed_meanwhile(writer);
    *file = (struct al_stat_cache_file){ .racy = false };
    al_stat_cache_fill(file, &before, began_ns);
    r = al_objects_put_pieces(&writer->objects, bytes.buf, bytes.len, &file->oid, writer->err);
    *ret_tree = file->oid;
    return r;
}

static int by_oid(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct al_oid));
}

/** A list of object ids. */
struct ids {
    struct al_oid *items;
    size_t count, capacity;
};

static void ids_clear(struct ids *ids)
{
    free(ids->items);
}

static void add_id(struct ids *ids, const struct al_oid *oid)
{
    if (ids->count == ids->capacity) {
        ids->capacity = ids->capacity ? 2 * ids->capacity : 64;
        ids->items = al_reallocarray(ids->items, ids->capacity, sizeof(*ids->items));
    }
    ids->items[ids->count++] = *oid;
}

/* Collect the objects of the index that no file of the working tree has.  Names and files are in
 * the same order, and a file's path pointer is that of its name. */
static void collect_staged(const struct al_checkpoint_writer *writer, struct ids *ids)
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
            add_id(ids, &name->oid);
    }
    for (size_t i = 0; i < collected->nunmerged; i++)
        add_id(ids, &collected->unmerged[i]);
}

static void sort_ids(struct ids *ids)
{
    size_t kept = 0;

    if (!ids->count)
        return;
    qsort(ids->items, ids->count, sizeof(*ids->items), by_oid);
    for (size_t i = 0; i < ids->count; i++)
        if (!kept || !al_oid_equal(&ids->items[kept - 1], &ids->items[i]))
            ids->items[kept++] = ids->items[i];
    ids->count = kept;
}

/* Copy the objects that the store lacks from the repository.  An object that neither has was lost
 * before. */
static int copy_missing(struct al_checkpoint_writer *writer, const struct ids *ids)
{
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    al_auto(al_freep) char *hash = NULL;
    struct al_store *store = writer->store;
    int r;

    for (size_t i = 0; i < ids->count; i++) {
        char text[AL_OID_TEXT];

        if (al_objects_has(&writer->objects, &ids->items[i]))
            continue;
        al_oid_text(&ids->items[i], store->sha256, text);
        al_strv_add(&missing, text);
    }
    if (!missing.count)
        return 0;
    al_deadline_sync(writer->deadline);
    r = al_bare_existing(&store->bare, &missing, true, &lines, writer->deadline->budget,
                         writer->err);
    if (r == 0 && lines.len)
        r = al_bare_pack(&store->bare, &lines, false, writer->deadline->budget, &hash, writer->err);
    al_objects_look_again(&writer->objects);
    return r;
}

int al_create_staged(struct al_checkpoint_writer *writer, struct al_oid *ret_tree)
{
    al_auto(ids_clear) struct ids ids = { .items = NULL };
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    struct al_tree_file *files;
    size_t count = 0;
    int r;

    collect_staged(writer, &ids);
    sort_ids(&ids);
    if (!ids.count)
        return 0;
    r = copy_missing(writer, &ids);
    if (r < 0)
        return r;
    files = al_calloc(ids.count, sizeof(*files));
    for (size_t i = 0; i < ids.count; i++) {
        char text[AL_OID_TEXT];

        if (!al_objects_has(&writer->objects, &ids.items[i]))
            continue;
        al_oid_text(&ids.items[i], writer->store->sha256, text);
        al_strv_addf(&paths, "%.2s/%s", text, text + 2);
        files[count++] = (struct al_tree_file){ .path = paths.items[paths.count - 1],
                                                .mode = S_IFREG | 0644,
                                                .oid = ids.items[i] };
    }
    r = count ? al_tree_put(&writer->objects, files, count, ret_tree, writer->err) : 0;
    free(files);
    return r;
}

int al_create_state(struct al_checkpoint_writer *writer, struct al_oid *ret_tree)
{
    const struct al_gitdir_files *from = &writer->gitdir;
    struct al_tree_file *files = al_calloc(from->count, sizeof(*files));
    int r = 0;

    for (size_t i = 0; i < from->count && r == 0; i++) {
        files[i].path = from->items[i].path;
        files[i].mode = from->items[i].mode;
        r = al_objects_put(&writer->objects, AL_OBJECT_BLOB, from->items[i].bytes.buf,
                           from->items[i].bytes.len, &files[i].oid, writer->err);
    }
    if (r == 0)
        r = al_tree_put(&writer->objects, files, from->count, ret_tree, writer->err);
    free(files);
    return r;
}

/* The permissions that most files have.  Files with other permissions are listed one by one. */
struct common_modes {
    unsigned plain, executable;
};

static struct common_modes count_modes(const struct al_worktree_files *worktree)
{
    struct common_modes common = { 0644, 0755 };
    size_t counts[PERMISSIONS + 1] = { 0 };

    for (size_t i = 0; i < worktree->count; i++) {
        unsigned mode = worktree->files[i].mode;
        unsigned *most = mode & S_IXUSR ? &common.executable : &common.plain;

        if (!S_ISREG(mode))
            continue;
        mode &= PERMISSIONS;
        if (++counts[mode] > counts[*most])
            *most = mode;
    }
    return common;
}

static int put_text(struct al_checkpoint_writer *writer, const struct al_str *text,
                    struct al_oid *ret_tree)
{
    if (!text->len)
        return 0;
    return al_objects_put_pieces(&writer->objects, text->buf, text->len, ret_tree, writer->err);
}

static int put_modes(struct al_checkpoint_writer *writer, const struct common_modes *common,
                     struct al_oid *ret_tree)
{
    const struct al_worktree_files *worktree = &writer->worktree;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < worktree->count; i++) {
        const struct al_tree_file *file = &worktree->files[i];
        unsigned usual = file->mode & S_IXUSR ? common->executable : common->plain;

        if (!S_ISREG(file->mode) || (file->mode & 07777) == usual)
            continue;
        al_str_addf(&text, "%o %s", file->mode & 07777, file->path);
        al_str_addc(&text, '\0');
    }
    return put_text(writer, &text, ret_tree);
}

int al_create_about(struct al_checkpoint_writer *writer, struct al_checkpoint_parts *parts)
{
    struct common_modes common = count_modes(&writer->worktree);
    const struct al_strv *left_out = &writer->worktree.left_out;
    al_auto(al_str_clear) struct al_str about = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    char entries[AL_OID_TEXT];
    int r;

    al_oid_text(&writer->new_head.entries, true, entries);
    al_str_addf(&about, "version 1\nentries %s\nmodes %o %o\n", entries, common.plain,
                common.executable);
    for (size_t i = 0; i < left_out->count; i++)
        al_str_add(&list, left_out->items[i], strlen(left_out->items[i]) + 1);
    r = al_objects_put(&writer->objects, AL_OBJECT_BLOB, about.buf, about.len, &parts->about,
                       writer->err);
    if (r == 0)
        r = put_modes(writer, &common, &parts->modes);
    return r < 0 ? r : put_text(writer, &list, &parts->left_out);
}
