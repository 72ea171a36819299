// SPDX-License-Identifier: Apache-2.0
/* The parts of a checkpoint except the working tree, the references and the staged objects. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "checkpoint/create.h"
#include "checkpoint/index_pieces.h"
#include "gitops/refs.h"
#include "odb/pieces.h"
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
    al_auto(al_index_put_clear) struct al_index_put put = AL_INDEX_PUT_INIT;
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
    *file = (struct al_stat_cache_file){ .racy = false };
    al_stat_cache_fill(file, &before, began_ns);
    if (before.st_size > INDEX_MAX_BYTES)
        return unreadable(writer, "index", EFBIG);
    put.fd = fd;
    put.deadline = writer->deadline;
    r = al_index_put(&put, &writer->objects, &file->oid, writer->err);
    if (r < 0)
        return r;
    if (fstat(fd, &after) < 0 || (uint64_t)after.st_size != put.bytes ||
        after.st_ctim.tv_nsec != before.st_ctim.tv_nsec ||
        after.st_ctim.tv_sec != before.st_ctim.tv_sec)
        return changed_meanwhile(writer);
    *ret_tree = file->oid;
    return 0;
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

/* An airlock that reads no checkpoint without a part refuses version 2. */
static void add_without(unsigned without, struct al_str *about)
{
    al_str_adds(about, "without");
    al_str_adds(about, without & AL_PARTS_WORKTREE ? " worktree" : "");
    al_str_adds(about, without & AL_PARTS_INDEX ? " index" : "");
    al_str_adds(about, without & AL_PARTS_REFS ? " refs" : "");
    al_str_addc(about, '\n');
}

/* Names of references have no space.  An airlock that does not know the line attributes more. */
static void add_moves(const struct al_strv *moves, struct al_str *about)
{
    al_str_adds(about, "moves");
    for (size_t i = 0; i < moves->count; i++)
        if (*moves->items[i] && !strpbrk(moves->items[i], " \n"))
            al_str_addf(about, " %s", moves->items[i]);
    al_str_addc(about, '\n');
}

/* The index holds changes of HEAD's commit.  With references a checkpoint tells that commit
 * anyway.  Only a rollback to the checkpoint asks. */
static void add_commit(const struct al_checkpoint_writer *writer, struct al_str *about)
{
    al_auto(al_freep) char *commit = NULL;

    if (writer->reason->before || writer->without & AL_PARTS_INDEX ||
        !(writer->without & AL_PARTS_REFS))
        return;
    commit = al_ref_head(&writer->store->repo->at);
    al_str_addf(about, "commit %s\n", *commit ? commit : AL_COMMIT_NONE);
}

/* The digest of the entries, if git listed them.  Otherwise a reader computes it from the index,
 * when two checkpoints are compared. */
static void add_entries(const struct al_checkpoint_writer *writer, struct al_str *about)
{
    char entries[AL_OID_TEXT];

    if (writer->without & AL_PARTS_WORKTREE)
        return;
    al_oid_text(&writer->new_head.entries, true, entries);
    al_str_addf(about, "entries %s\n", entries);
}

int al_create_about(struct al_checkpoint_writer *writer, struct al_checkpoint_trees *trees)
{
    struct common_modes common = count_modes(&writer->worktree);
    const struct al_strv *left_out = &writer->worktree.left_out;
    al_auto(al_str_clear) struct al_str about = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    /* Only one of them was read. */
    const struct al_stat_cache_file *index =
        writer->without & AL_PARTS_WORKTREE ? &writer->index_cache.index : &writer->new_head.index;
    int r;

    al_str_addf(&about, "version %d\n", writer->without ? 2 : 1);
    add_entries(writer, &about);
    al_str_addf(&about, "modes %o %o\n", common.plain, common.executable);
    if (index->id.exists)
        al_str_addf(&about, "index-time %" PRId64 "\n", index->id.mtime_ns);
    add_commit(writer, &about);
    if (writer->reason->moves)
        add_moves(writer->reason->moves, &about);
    if (writer->without) /* the last line: an older airlock reads to the end */
        add_without(writer->without, &about);
    for (size_t i = 0; i < left_out->count; i++)
        al_str_add(&list, left_out->items[i], strlen(left_out->items[i]) + 1);
    r = al_objects_put(&writer->objects, AL_OBJECT_BLOB, about.buf, about.len, &trees->about,
                       writer->err);
    if (r == 0)
        r = put_modes(writer, &common, &trees->modes);
    return r < 0 ? r : put_text(writer, &list, &trees->left_out);
}
