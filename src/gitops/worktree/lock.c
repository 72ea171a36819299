// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "gitops/location.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "util/fs.h"

static int open_admin(const struct al_repo *repo, const char *id, int *ret_fd, struct al_error *err)
{
    al_auto(al_closep) int common_fd = -1;
    al_auto(al_freep) char *path = al_fs_join("worktrees", id);
    int r = al_location_open_common_dir(&repo->at, &common_fd, err);

    if (r < 0)
        return r;
    *ret_fd = al_nofollow_open(common_fd, path, O_RDONLY | O_DIRECTORY);
    return *ret_fd < 0 ? al_error_errno(err, -*ret_fd, "cannot open the administrative directory")
                       : 0;
}

int al_worktree_set_lock(const struct al_repo *repo, const struct al_worktree_found *found,
                         const char *name, bool locks, const char *reason, struct al_error *err)
{
    al_auto(al_freep) char *text = al_asprintf("%s%s", reason ? reason : "", reason ? "\n" : "");
    al_auto(al_freep) char *why = found->locked ? al_text_join_lines(found->locked) : NULL;
    al_auto(al_closep) int fd = -1;
    int r;

    if (locks && why)
        return al_error_set(err, AL_ERR_EXECUTION, "The worktree '%s' is locked already%s%s", name,
                            *why ? ": " : "", why);
    if (!locks && !why)
        return al_error_set(err, AL_ERR_EXECUTION, "The worktree '%s' is not locked", name);
    r = open_admin(repo, found->id, &fd, err);
    if (r < 0)
        return r;
    if (locks)
        r = al_fs_write_atomic(fd, "locked", text, strlen(text), 0644, false);
    else
        r = unlinkat(fd, "locked", 0) < 0 ? -errno : 0;
    return r < 0
               ? al_error_errno(err, -r, "cannot %slock the worktree '%s'", locks ? "" : "un", name)
               : 0;
}
