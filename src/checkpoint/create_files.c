// SPDX-License-Identifier: Apache-2.0
/* Some files of the working tree, for a checkpoint of an execution that can change no others. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/create.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"

/* Whether a file is in its place, or nothing is.  Then replacing it changes nothing else. */
static bool is_simple(int top_fd, const char *path)
{
    const char *name;
    al_auto(al_closep) int fd = al_nofollow_open_parent(top_fd, path, false, &name);
    struct stat st;

    if (fd < 0)
        return fd == -ENOENT;
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT;
    return S_ISREG(st.st_mode) || S_ISLNK(st.st_mode);
}

/* The git directory is not part of the working tree, whatever a list says. */
static bool is_plain(const char *path)
{
    al_auto(al_freep) char *first = al_strndup(path, strcspn(path, "/"));

    return *path && *path != '/' && !al_path_has_dot_git(first);
}

static int needs_all(struct al_checkpoint_writer *writer)
{
    writer->needs_all = true;
    return al_error_set(writer->err, AL_ERR_AGAIN,
                        "files are not alone in their places, or marked in the index");
}

/* Add the names to the writer's list, in order and each once. */
static int collect(struct al_checkpoint_writer *writer, const struct al_strv *names,
                   struct al_str *ret_paths)
{
    al_auto(al_strv_clear) struct al_strv sorted = AL_STRV_INIT;
    int r = 0;

    for (size_t i = 0; i < names->count; i++)
        al_strv_add(&sorted, names->items[i]);
    al_strv_sort(&sorted);
    for (size_t i = 0; i < sorted.count && r == 0; i++) {
        const char *path = sorted.items[i];

        if (i && !strcmp(path, sorted.items[i - 1]))
            continue;
        if (!is_plain(path) || !is_simple(writer->top_fd, path))
            return needs_all(writer);
        (void)al_file_list_add(&writer->collected.names, path, strlen(path));
        al_str_add(ret_paths, path, strlen(path) + 1);
        r = al_deadline_step(writer->deadline, writer->err);
    }
    return r;
}

static int read_files(struct al_checkpoint_writer *writer)
{
    const struct al_checkpoint_settings *settings = writer->store->settings;
    bool changed = false;

    return al_worktree_read(
        &(struct al_worktree_source){
            .top_fd = writer->top_fd,
            .top = writer->store->repo->at.top,
            .names = &writer->collected.names,
            .max_file_bytes = settings->max_file_bytes,
            .max_store_bytes = settings->max_store_bytes,
            .objects = &writer->objects,
            .cache = &writer->cache, /* empty */
            .changed = &changed,
            .deadline = writer->deadline,
        },
        &writer->worktree, writer->err);
}

int al_create_files(struct al_checkpoint_writer *writer, const struct al_strv *names,
                    struct al_checkpoint_trees *trees)
{
    al_auto(al_str_clear) struct al_str paths = AL_STR_INIT;
    /* Lists of changed files have no file that is marked as unchanged. */
    int r = writer->index_cache.has_marks ? needs_all(writer) : collect(writer, names, &paths);

    if (r == 0)
        r = read_files(writer);
    if (r == 0 && writer->worktree.count)
        r = al_tree_put(&writer->objects, writer->worktree.files, writer->worktree.count,
                        &trees->worktree, writer->err);
    return r < 0 ? r
                 : al_objects_put_pieces(&writer->objects, paths.buf, paths.len, &trees->paths,
                                         writer->err);
}
