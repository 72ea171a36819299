// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/default_branch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "gitops/refs.h"
#include "util/fs.h"
#include "util/str.h"

#define HEAD_MAX_BYTES 4096u

/* The branch here of the remote-tracking branch that origin's HEAD names.  Caller frees. */
static char *of_origin(const struct al_location *at)
{
    static const char prefix[] = "ref: refs/remotes/origin/";
    al_auto(al_freep) char *held = al_ref_read_loose(at, "refs/remotes/origin/HEAD");

    return held && al_starts_with(held, prefix)
               ? al_asprintf("refs/heads/%s", held + strlen(prefix))
               : NULL;
}

/* Caller frees. */
static char *of_main_worktree(const struct al_location *at)
{
    static const char prefix[] = "ref: ";
    al_auto(al_freep) char *path = al_fs_join(at->common_dir, "HEAD");
    al_auto(al_str_clear) struct al_str head = AL_STR_INIT;

    if (al_fs_read(AT_FDCWD, path, HEAD_MAX_BYTES, &head) < 0 || !al_starts_with(head.buf, prefix))
        return NULL;
    al_str_trim_end(&head);
    return al_strdup(head.buf + strlen(prefix));
}

char *al_git_default_branch(const struct al_location *at)
{
    char *names[] = { of_origin(at), al_strdup("refs/heads/main"), al_strdup("refs/heads/master"),
                      of_main_worktree(at) };
    char *found = NULL;

    for (size_t i = 0; i < AL_COUNT(names); i++) {
        if (!found && names[i] && al_starts_with(names[i], "refs/heads/") &&
            al_ref_exists(at, names[i]))
            found = al_take(&names[i]);
        free(names[i]);
    }
    return found;
}
