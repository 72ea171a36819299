// SPDX-License-Identifier: Apache-2.0
/*
 * Finds files that an operation may overwrite and that a checkpoint does not have.
 *
 * A checkpoint leaves a file out when it is ignored, too large or unreadable, or when it keeps
 * changing.  Such a file could not be given back.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/create.h"
#include "gitops/deadline.h"
#include "guard/nofollow.h"
#include "util/fs.h"

/* The answer names this many files; a longer list helps no user. */
#define MISSING_MAX 100u

/** The state of one search. */
struct search {
    struct al_checkpoint_writer *writer;
    struct al_strv dirs; /* directories still to be searched */
    struct al_strv *missing;
};

static void search_clear(struct search *search)
{
    al_strv_clear(&search->dirs);
}

static int by_path(const void *key, const void *item)
{
    return strcmp(key, ((const struct al_tree_file *)item)->path);
}

static bool is_in_checkpoint(const struct search *search, const char *path)
{
    const struct al_worktree_files *worktree = &search->writer->worktree;

    return worktree->count &&
           bsearch(path, worktree->files, worktree->count, sizeof(*worktree->files), by_path);
}

/* A file must be in the checkpoint, and so must every file of a directory. */
static void check_entry(struct search *search, const char *path, mode_t mode)
{
    if (S_ISDIR(mode))
        al_strv_add(&search->dirs, path);
    else if ((S_ISREG(mode) || S_ISLNK(mode)) && !is_in_checkpoint(search, path))
        al_strv_add(search->missing, path);
}

static int check_dir(struct search *search, const char *path)
{
    al_auto(al_closep) int fd =
        al_nofollow_open(search->writer->top_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_closedirp) DIR *dir = fd >= 0 ? al_fs_list_at(fd) : NULL;
    struct dirent *entry;
    int r = 0;

    while (dir && r == 0 && search->missing->count < MISSING_MAX && (entry = readdir(dir))) {
        struct stat st;

        r = al_deadline_step(search->writer->deadline, search->writer->err);
        if (r == 0 && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            al_auto(al_freep) char *below = al_fs_join(path, entry->d_name);

            check_entry(search, below, st.st_mode);
        }
    }
    return r;
}

/* If a leading part of a path is no directory, that part is what the operation would overwrite. */
static void check_path(struct search *search, const char *path)
{
    al_auto(al_freep) char *part = al_strdup(path);
    struct stat st;

    for (char *slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (fstatat(search->writer->top_fd, part, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return;
        if (!S_ISDIR(st.st_mode)) {
            check_entry(search, part, st.st_mode);
            return;
        }
        *slash = '/';
    }
    if (fstatat(search->writer->top_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
        check_entry(search, path, st.st_mode);
}

int al_create_find_missing(struct al_checkpoint_writer *writer, struct al_strv *ret_missing)
{
    al_auto(search_clear) struct search search = { .writer = writer, .missing = ret_missing };
    const struct al_strv *paths = writer->reason->overwriting;
    int r = 0;

    for (size_t i = 0; r == 0 && i < paths->count && ret_missing->count < MISSING_MAX; i++) {
        if (!is_in_checkpoint(&search, paths->items[i]))
            check_path(&search, paths->items[i]);
        r = al_deadline_step(writer->deadline, writer->err);
    }
    for (size_t i = 0; r == 0 && i < search.dirs.count && ret_missing->count < MISSING_MAX; i++)
        r = check_dir(&search, search.dirs.items[i]);
    return r;
}
