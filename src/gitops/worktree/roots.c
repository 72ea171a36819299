// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/roots.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/layer.h"
#include "gitops/locate.h"
#include "gitops/repo/repo.h"
#include "gitops/worktree/add.h"
#include "gitops/worktree/find.h"
#include "gitops/worktree/place.h"
#include "gitops/worktree/record.h"
#include "guard/nofollow.h"
#include "guard/root.h"
#include "util/fs.h"
#include "util/log.h"

/* Open the worktree of a record, made in the working tree `repo`.  -1: it is not that one. */
static int open_recorded(const struct al_repo *repo, const struct al_worktree_place *place,
                         const char *name, const struct al_worktree_record *record)
{
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_freep) char *tree = NULL;
    al_auto(al_closep) int fd = -1;

    if (record->making || !record->tree || strcmp(record->from, repo->at.top) != 0 ||
        al_worktree_find(repo, place, name, &found, NULL) < 0 || !found.is_whole ||
        strcmp(found.top, record->path) != 0)
        return -1;
    fd = al_nofollow_open(place->fd, name, O_PATH | O_DIRECTORY);
    tree = fd < 0 ? NULL : al_worktree_tree_id(fd);
    return tree && !strcmp(tree, record->tree) ? al_take_fd(&fd) : -1;
}

/* Whether a worktree is a root already, or lies in one. */
static bool is_root(const struct al_repo *repo, const char *top)
{
    const struct al_root *root = al_roots_find(repo->at.git->roots, top);
    struct stat st;

    return root && (strcmp(root->path, top) != 0 ||
                    (lstat(top, &st) == 0 && st.st_dev == root->dev && st.st_ino == root->ino));
}

/* The number of roots that are new. */
static size_t admit_from(const struct al_repo *repo)
{
    size_t count = 0;
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_worktree_record_names(repo->at.git, repo->at.common_dir, &names);
    if (!names.count || al_worktree_place_find(repo, false, &place, NULL) < 0 || place.fd < 0)
        return 0;
    for (size_t i = 0; i < names.count; i++) {
        al_auto(al_worktree_record_clear) struct al_worktree_record record =
            AL_WORKTREE_RECORD_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_closep) int fd = -1;
        const char *name = names.items[i];

        if (al_worktree_check_name("name", name, NULL) == 0 &&
            al_worktree_record_read(repo->at.git, repo->at.common_dir, name, &record) == 0)
            fd = open_recorded(repo, &place, name, &record);
        if (fd >= 0 && !is_root(repo, record.path)) {
            if (al_worktree_admit(repo, record.path, fd, &err) < 0)
                al_log_warn("the worktree '%s' is no root: %s", name, err.message);
            else
                count++;
        }
    }
    return count;
}

bool al_worktree_admit_recorded(struct al_git *git)
{
    const size_t count = git->roots->count; /* not those that are added here */

    size_t admitted = 0;

    if (!git->growing || access(git->records_dir, F_OK) < 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct al_root *root = &git->roots->items[i];
        struct al_repo repo = { .at = AL_LOCATION_INIT };

        if (al_root_is_released(root))
            continue;
        repo.at.git = git;
        repo.at.root = root;
        repo.at.dir = al_strdup(root->path);
        repo.at.dir_fd = openat(root->fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (repo.at.dir_fd >= 0 && al_location_find(&repo.at, git->roots, ".", NULL) == 0 &&
            !strcmp(repo.at.top, root->path))
            admitted += admit_from(&repo);
        al_location_clear(&repo.at);
    }
    return admitted;
}
