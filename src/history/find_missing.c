// SPDX-License-Identifier: Apache-2.0
#include "history/find_missing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/deadline.h"
#include "gitops/plumbing/snapshot.h"
#include "guard/nofollow.h"
#include "history/files.h"
#include "util/fs.h"

/* The answer names this many files; a longer list helps no user. */
#define MISSING_MAX 100u

/** The state of one search. */
struct search {
    int top_fd;
    struct al_strv dirs;  /* directories still to be searched */
    struct al_strv files; /* those that are there */
    struct al_deadline deadline;
    struct al_error *err;
};

static void search_clear(struct search *search)
{
    al_strv_clear(&search->dirs);
    al_strv_clear(&search->files);
}

/* A file must be in the checkpoint, and so must every file of a directory. */
static void add_entry(struct search *search, const char *path, mode_t mode)
{
    if (S_ISDIR(mode)) {
        al_strv_add(&search->dirs, path);
    } else if (S_ISREG(mode) || S_ISLNK(mode)) {
        al_strv_add(&search->files, path);
    }
}

static int add_dir(struct search *search, const char *path)
{
    al_auto(al_closep) int fd = al_nofollow_open(search->top_fd, path, O_RDONLY | O_DIRECTORY);
    al_auto(al_closedirp) DIR *dir = fd >= 0 ? al_fs_list_at(fd) : NULL;
    struct dirent *entry;
    int r = 0;

    while (dir && r == 0 && (entry = readdir(dir))) {
        struct stat st;

        r = al_deadline_step(&search->deadline, search->err);
        if (r == 0 && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            al_auto(al_freep) char *below = al_fs_join(path, entry->d_name);

            add_entry(search, below, st.st_mode);
        }
    }
    return r;
}

/* If a leading part of a path is no directory, that part is what the operation would overwrite. */
static void add_path(struct search *search, const char *path)
{
    al_auto(al_freep) char *part = al_strdup(path);
    struct stat st;

    for (char *slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (fstatat(search->top_fd, part, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return;
        if (!S_ISDIR(st.st_mode)) {
            add_entry(search, part, st.st_mode);
            return;
        }
        *slash = '/';
    }
    if (fstatat(search->top_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
        add_entry(search, path, st.st_mode);
}

int al_find_missing(struct al_store *store, const char *id, int top_fd, const struct al_strv *paths,
                    struct al_run_limits *budget, struct al_strv *ret_missing, struct al_error *err)
{
    al_auto(search_clear) struct search search = { .top_fd = top_fd,
                                                   .deadline = al_deadline_begin(budget),
                                                   .err = err };
    al_auto(al_strv_clear) struct al_strv new = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    int r = 0;

    for (size_t i = 0; r == 0 && i < paths->count; i++) {
        add_path(&search, paths->items[i]);
        r = al_deadline_step(&search.deadline, err);
    }
    for (size_t i = 0; r == 0 && i < search.dirs.count; i++)
        r = add_dir(&search, search.dirs.items[i]);
    al_deadline_sync(&search.deadline);
    if (r < 0)
        return r;
    /* The checkpoint was taken from that index just now.  Nested repositories are not in it. */
    al_files_find_new(store, &search.files, &new);
    for (size_t i = 0; i < new.count; i++) {
        al_auto(al_freep) char *saved = al_files_saved_path(new.items[i]);

        al_str_addf(&names, "%s:%s", id, saved);
        al_str_addc(&names, '\0');
    }
    r = al_snapshot_find_missing(&store->bare, &names, budget, &missing, err);
    for (size_t i = 0; r == 0 && i < missing.count && ret_missing->count < MISSING_MAX; i++)
        al_strv_take(ret_missing, al_files_path(strchr(missing.items[i], ':') + 1));
    return r;
}
