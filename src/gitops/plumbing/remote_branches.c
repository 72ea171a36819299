// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/remote_branches.h"

#include <string.h>

#include "gitops/command.h"
#include "gitops/plumbing/batch.h"

int al_git_remote_branches(const struct al_repo *repo, const char *name,
                           struct al_run_limits *budget, struct al_strv *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    char *save = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "for-each-ref", "--format=%(refname)", NULL);
    al_strv_addf(&command.argv, "refs/remotes/*/%s", name);
    r = al_git_list_paths(repo, &command, budget, &list, err);
    al_str_add(&names, list.data, list.len);
    al_buffer_clear(&list);
    for (char *ref = strtok_r(names.buf, "\n", &save); r == 0 && ref;
         ref = strtok_r(NULL, "\n", &save))
        al_strv_add(out, ref);
    return r;
}
