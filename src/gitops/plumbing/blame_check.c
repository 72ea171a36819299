// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/blame_check.h"

#include <fcntl.h>

#include "gitops/layer.h"
#include "gitops/vet/vet.h"
#include "guard/path.h"
#include "guard/root.h"
#include "util/fs.h"

/* git prints the first line of such a file if it is no list of commits, so the file must not lie
 * where an agent may not read.  An override cannot help: git reads the repository's own value
 * first. */
int al_git_blame_check(const struct al_repo *repo, struct al_error *err)
{
    const struct al_strv *files = &repo->vetting->ignore_revs;

    if (files->count > AL_IGNORE_REVS_MAX)
        return al_error_set(err, AL_ERR_SANDBOX,
                            "The repository's blame.ignoreRevsFile names more than %d files; "
                            "remove what is not needed from the repository's configuration",
                            AL_IGNORE_REVS_MAX);
    for (size_t i = 0; i < files->count; i++) {
        al_auto(al_freep) char *abs = NULL;
        al_auto(al_closep) int fd = -1;

        if (al_roots_open(repo->at.git->roots, files->items[i], O_PATH, &fd, &abs, NULL) ==
            AL_ERR_SANDBOX)
            return al_error_set(err, AL_ERR_SANDBOX,
                                "The repository's blame.ignoreRevsFile leads outside the allowed "
                                "roots; remove it from the repository's configuration");
    }
    return 0;
}
