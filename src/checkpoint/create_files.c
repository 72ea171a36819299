// SPDX-License-Identifier: Apache-2.0
/* Some files of the working tree, for a checkpoint of an execution that can change no others. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/create.h"
#include "gitops/plumbing/index_places.h"
#include "gitops/plumbing/rollback_plumbing.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"

/* The kind of thing in a place.  To replace a file, or nothing, changes nothing else. */
enum place { PLACE_EMPTY, PLACE_FILE, PLACE_OTHER };

static enum place look(int top_fd, const char *path)
{
    const char *name;
    al_auto(al_closep) int fd = al_nofollow_open_parent(top_fd, path, false, &name);
    struct stat st;

    if (fd < 0)
        return fd == -ENOENT ? PLACE_EMPTY : PLACE_OTHER;
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? PLACE_EMPTY : PLACE_OTHER;
    return S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) ? PLACE_FILE : PLACE_OTHER;
}

/* The git directory is not part of the working tree, whatever a list says. */
static bool is_plain(const char *path)
{
    al_auto(al_freep) char *first = al_strndup(path, strcspn(path, "/"));

    return *path && *path != '/' && !al_path_has_dot_git(first);
}

int al_create_needs_all(struct al_checkpoint_writer *writer)
{
    writer->needs_all = true;
    return al_error_set(writer->err, AL_ERR_AGAIN,
                        "files are not alone in their places, or marked in the index");
}

/* Add the names to `ret_paths`, in order and each once, and the files among them to the writer's
 * list. */
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
        enum place place;

        if (i && !strcmp(path, sorted.items[i - 1]))
            continue;
        place = is_plain(path) ? look(writer->top_fd, path) : PLACE_OTHER;
        if (place == PLACE_OTHER)
            return al_create_needs_all(writer);
        if (place == PLACE_FILE)
            (void)al_file_list_add(&writer->collected.names, path, strlen(path));
        al_str_add(ret_paths, path, strlen(path) + 1);
        r = al_deadline_step(writer->deadline, writer->err);
    }
    return r;
}

static bool mark_tracked(void *payload, const struct al_index_entry *entry)
{
    const struct al_file_list *names = payload;
    size_t low = 0, high = names->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(al_file_list_path(names, &names->items[middle]), entry->name);

        if (order == 0)
            names->items[middle].in_index = true;
        if (order == 0)
            break;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return true;
}

/* List the files that the index does not have. */
static int find_untracked(struct al_checkpoint_writer *writer, struct al_strv *ret_untracked)
{
    const struct al_file_list *names = &writer->collected.names;
    al_auto(al_strv_clear) struct al_strv near = AL_STRV_INIT; /* one too many: not used */
    al_auto(al_closep) int fd =
        openat(writer->git_fd, "index", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 && errno != ENOENT)
        return al_create_needs_all(writer);
    for (size_t i = 0; i < names->count && i <= AL_INDEX_NEAR_MAX; i++)
        al_strv_add(&near, al_file_list_path(names, &names->items[i]));
    if (fd >= 0 && al_index_read_near(fd, al_oid_bytes(writer->store->sha256), &near, mark_tracked,
                                      &writer->collected.names) != AL_INDEX_WHOLE)
        return al_create_needs_all(writer);
    for (size_t i = 0; i < names->count; i++)
        if (!names->items[i].in_index)
            al_strv_add(ret_untracked, al_file_list_path(names, &names->items[i]));
    return 0;
}

/* Ignored files are in no checkpoint, unless the configuration names them. */
static int drop_ignored(struct al_checkpoint_writer *writer)
{
    struct al_file_list *names = &writer->collected.names;
    al_auto(al_strv_clear) struct al_strv untracked = AL_STRV_INIT, ignored = AL_STRV_INIT;
    size_t kept = 0;
    int r = names->count ? find_untracked(writer, &untracked) : 0;

    if (r < 0 || !untracked.count)
        return r;
    al_deadline_sync(writer->deadline);
    r = al_git_ignored_paths(writer->store->repo, writer->top_fd, &untracked,
                             writer->deadline->budget, &ignored, writer->err);
    if (r == AL_ERR_EXECUTION)
        return al_create_needs_all(writer);
    al_strv_sort(&ignored);
    for (size_t i = 0; r == 0 && i < names->count; i++) {
        const char *path = al_file_list_path(names, &names->items[i]);

        if (names->items[i].in_index || !ignored.count ||
            !al_strv_contains_sorted(&ignored, path) ||
            al_collect_includes(writer->store->settings->include_ignored, path))
            names->items[kept++] = names->items[i];
    }
    names->count = kept;
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
    int r = collect(writer, names, &paths);

    if (r == 0)
        r = drop_ignored(writer);
    if (r == 0)
        r = read_files(writer);
    if (r == 0 && writer->worktree.count)
        r = al_tree_put(&writer->objects, writer->worktree.files, writer->worktree.count,
                        &trees->worktree, writer->err);
    return r < 0 ? r
                 : al_objects_put_pieces(&writer->objects, paths.buf, paths.len, &trees->paths,
                                         writer->err);
}
