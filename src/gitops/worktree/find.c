// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/find.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gitops/locate.h"
#include "gitops/location.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define REASON_MAX_BYTES 4096u

void al_worktree_found_clear(struct al_worktree_found *found)
{
    free(found->top);
    free(found->id);
    free(found->git_dir);
    free(found->locked);
    *found = AL_WORKTREE_FOUND_INIT;
}

/* Called with each administrative directory: its name, open, and the top that it names.  False ends
 * the search. */
typedef bool admin_fn(void *payload, const char *id, int fd, const char *top);

static int for_each(const struct al_repo *repo, admin_fn *take, void *payload, struct al_error *err)
{
    static const char dot_git[] = "/.git";
    al_auto(al_closep) int common_fd = -1;
    al_auto(al_closedirp) DIR *dir = NULL;
    const struct dirent *entry;
    bool more = true;
    int r = al_location_open_common_dir(&repo->at, &common_fd, err);

    if (r < 0)
        return r;
    dir = al_fs_list(al_nofollow_open(common_fd, "worktrees", O_RDONLY | O_DIRECTORY));
    while (dir && more && (entry = readdir(dir))) {
        al_auto(al_freep) char *base = al_fs_join(repo->at.common_dir, "worktrees");
        al_auto(al_freep) char *path = al_fs_join(base, entry->d_name);
        al_auto(al_closep) int fd =
            entry->d_name[0] == '.'
                ? -1
                : al_nofollow_open(dirfd(dir), entry->d_name, O_PATH | O_DIRECTORY);
        al_auto(al_freep) char *named = fd < 0 ? NULL : al_git_read_pointer(fd, "gitdir", "", path);

        if (!named || !al_ends_with(named, dot_git))
            continue;
        named[strlen(named) - strlen(dot_git)] = '\0';
        more = take(payload, entry->d_name, fd, named);
    }
    return 0;
}

struct search {
    struct al_worktree_found *found;
    const struct al_worktree_place *place;
    size_t count;
};

static bool take_named(void *payload, const char *id, int fd, const char *top)
{
    struct search *search = payload;
    al_auto(al_str_clear) struct al_str reason = AL_STR_INIT;
    struct stat st;

    if (strcmp(top, search->found->top) != 0)
        return true;
    search->found->id = al_strdup(id);
    if (fstatat(fd, "locked", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    (void)al_fs_read(fd, "locked", REASON_MAX_BYTES, &reason);
    al_str_trim_end(&reason);
    search->found->locked = al_strdup(reason.len ? reason.buf : "");
    return false;
}

/* The `.git` file of the top is a regular file of the user's and names the administrative
 * directory; and the other way round: by inode, since a link might have the same name. */
static bool is_whole(const struct al_worktree_found *found, int top_fd)
{
    al_auto(al_freep) char *named = al_git_read_pointer(top_fd, ".git", "gitdir: ", found->top);
    al_auto(al_freep) char *back = NULL;
    al_auto(al_closep) int fd = -1;
    struct stat file, other, admin, pointed;

    if (!named || !found->git_dir || fstatat(top_fd, ".git", &file, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(file.st_mode) || file.st_nlink != 1 || !al_location_is_own(&file))
        return false;
    fd = open(found->git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    back = fd < 0 ? NULL : al_git_read_pointer(fd, "gitdir", "", found->git_dir);
    return back && fstat(fd, &admin) == 0 && stat(named, &pointed) == 0 &&
           admin.st_dev == pointed.st_dev && admin.st_ino == pointed.st_ino &&
           lstat(back, &other) == 0 && other.st_dev == file.st_dev && other.st_ino == file.st_ino;
}

int al_worktree_find(const struct al_repo *repo, const struct al_worktree_place *place,
                     const char *name, struct al_worktree_found *ret_found, struct al_error *err)
{
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    struct search search = { .found = &found };
    al_auto(al_closep) int top_fd = -1;
    struct stat st;
    int r;

    found.top = al_fs_join(place->dir, name);
    r = for_each(repo, take_named, &search, err);
    if (r < 0)
        return r;
    if (found.id)
        found.git_dir = al_asprintf("%s/worktrees/%s", repo->at.common_dir, found.id);
    found.has_top = place->fd >= 0 && fstatat(place->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (found.has_top)
        top_fd = al_nofollow_open(place->fd, name, O_PATH | O_DIRECTORY);
    found.is_whole = top_fd >= 0 && is_whole(&found, top_fd);
    *ret_found = found;
    found = AL_WORKTREE_FOUND_INIT;
    return 0;
}

static bool count_below(void *payload, const char *id, int fd, const char *top)
{
    struct search *search = payload;
    const char *below = al_fs_beneath(search->place->dir, top);

    (void)id;
    (void)fd;
    search->count += below && *below;
    return true;
}

int al_worktree_count(const struct al_repo *repo, const struct al_worktree_place *place,
                      size_t *ret_count, struct al_error *err)
{
    struct search search = { .place = place };
    int r = for_each(repo, count_below, &search, err);

    *ret_count = search.count;
    return r;
}
