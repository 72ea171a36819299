// SPDX-License-Identifier: Apache-2.0
#include "gitops/reading/other_worktrees.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gitops/refs.h"
#include "guard/nofollow.h"
#include "util/fs.h"

/** More are not listed. */
#define WORKTREES_MAX 1000

#define FILE_BYTES    8192u

static const char heads[] = "ref: refs/heads/", dot_git[] = "/.git";

void al_other_worktrees_clear(struct al_other_worktrees *worktrees)
{
    for (size_t i = 0; i < worktrees->count; i++) {
        free(worktrees->items[i].path);
        free(worktrees->items[i].branch);
        free(worktrees->items[i].head);
    }
    free(worktrees->items);
    *worktrees = AL_OTHER_WORKTREES_INIT;
}

/* The content of a file without the newline; NULL.  Caller frees. */
static char *read_line(int dir_fd, const char *name)
{
    al_auto(al_closep) int fd = al_nofollow_open(dir_fd, name, O_RDONLY);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (fd < 0 || al_fs_read_fd(fd, FILE_BYTES, &text) < 0)
        return NULL;
    al_str_trim_end(&text);
    return al_str_detach(&text);
}

/* Take over `path`. */
static void add(struct al_other_worktrees *to, char *path, const char *head)
{
    const bool on_branch = al_starts_with(head, heads);

    to->items = al_reallocarray(to->items, to->count + 1, sizeof(*to->items));
    to->items[to->count++] = (struct al_other_worktree){
        .path = path,
        .branch = on_branch ? al_strdup(head + strlen(heads)) : NULL,
        .head = al_strdup(!on_branch && al_is_oid(head, strlen(head)) ? head : ""),
    };
}

static void add_main(const struct al_repo *repo, int common_fd, struct al_other_worktrees *to)
{
    al_auto(al_freep) char *head = read_line(common_fd, "HEAD");
    const char *common = repo->at.common_dir;

    if (head && strcmp(repo->at.git_dir, common) != 0 && al_ends_with(common, dot_git))
        add(to, al_strndup(common, strlen(common) - strlen(dot_git)), head);
}

static void add_linked(const struct al_repo *repo, int dir_fd, const char *name,
                       struct al_other_worktrees *to)
{
    al_auto(al_freep) char *head_name = al_asprintf("%s/HEAD", name);
    al_auto(al_freep) char *link_name = al_asprintf("%s/gitdir", name);
    al_auto(al_freep) char *head = read_line(dir_fd, head_name);
    al_auto(al_freep) char *link = read_line(dir_fd, link_name);
    const char *own = strrchr(repo->at.git_dir, '/');

    if (!head || !link || !al_ends_with(link, dot_git))
        return;
    if (strcmp(repo->at.git_dir, repo->at.common_dir) != 0 && own && !strcmp(own + 1, name))
        return;
    add(to, al_strndup(link, strlen(link) - strlen(dot_git)), head);
}

void al_git_other_worktrees(const struct al_repo *repo, struct al_other_worktrees *ret_worktrees)
{
    al_auto(al_closep) int common_fd = -1;
    al_auto(al_closep) int dir_fd = -1;
    al_auto(al_closedirp) DIR *dir = NULL;
    const struct dirent *entry;

    if (al_location_open_common_dir(&repo->at, &common_fd, NULL) < 0)
        return;
    add_main(repo, common_fd, ret_worktrees);
    dir_fd = al_nofollow_open(common_fd, "worktrees", O_RDONLY | O_DIRECTORY);
    dir = dir_fd >= 0 ? al_fs_list_at(dir_fd) : NULL;
    while (dir && ret_worktrees->count < WORKTREES_MAX && (entry = readdir(dir)))
        if (*entry->d_name != '.')
            add_linked(repo, dir_fd, entry->d_name, ret_worktrees);
}
