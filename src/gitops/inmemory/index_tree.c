// SPDX-License-Identifier: Apache-2.0
/* The tree of what is staged.  git notes the trees of an index in the index itself, so it works on
 * a copy. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "gitops/inmemory/private.h"
#include "gitops/plumbing/revision.h"
#include "guard/nofollow.h"
#include "util/fs.h"

/* Returns -ENOENT if there is no index. */
static int copy_index(const struct al_inmemory *memory, const char *path, struct al_error *err)
{
    al_auto(al_closep) int git_dir = -1;
    al_auto(al_closep) int from = -1;
    al_auto(al_closep) int to = -1;
    int r = al_location_open_git_dir(&memory->real->at, &git_dir, err);

    if (r < 0)
        return r;
    from = al_nofollow_open(git_dir, "index", O_RDONLY);
    if (from == -ENOENT)
        return from;
    to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    r = from < 0 ? from : to < 0 ? -errno : al_fs_copy(from, to);
    return r < 0 ? al_error_errno(err, -r, "cannot copy the index") : 0;
}

int al_inmemory_index_tree(struct al_inmemory *memory, struct al_run_limits *budget,
                           char **ret_tree, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *path = al_fs_join(memory->dir, "index");
    struct al_buffer out = { .max_bytes = 0 };
    int r = copy_index(memory, path, err);

    if (r == -ENOENT) {
        *ret_tree = al_strdup(al_git_empty_tree(memory->real));
        return 0;
    }
    if (r < 0)
        return r;
    command.index = path;
    al_strv_adds(&command.argv, "git", "write-tree", "--missing-ok", NULL);
    r = al_inmemory_git(memory, &command, budget, &out, NULL, err);
    if (r == 0)
        *ret_tree = al_strndup(out.data ? out.data : "", out.data ? strcspn(out.data, "\n") : 0);
    al_buffer_clear(&out);
    return r;
}
